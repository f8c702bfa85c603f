// Runs the steps of an encoding with a delay before each, until another plan replaces it.
import type { Clock } from './clock.ts';

type Plan<Step> = {
  readonly clock: Clock;
  readonly stepMs: number;
  readonly steps: readonly Step[];
  readonly isOver: () => boolean;
  readonly take: (step: Step) => Promise<void>;
};

export function runSteps<Step>(plan: Plan<Step>): void {
  const [step, ...steps] = plan.steps;
  if (step === undefined) return;
  plan.clock.after(plan.stepMs, async () => {
    if (plan.isOver()) return;
    await plan.take(step);
    runSteps({ ...plan, steps });
  });
}
