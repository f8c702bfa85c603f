// The clock for encoding steps and token expiry: real time, or advanced manually by a test.
type Task = () => Promise<void>;

export type Clock = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly after: (ms: number, task: Task) => void;
  /** Cancels pending timers, and resolves when running work has ended. */
  readonly stop: () => Promise<void>;
};

export type ManualClock = Clock & {
  /** Resolves when all due work is done and its webhooks are answered. */
  readonly advance: (ms: number) => Promise<void>;
};

export function wallClock(log: (line: string) => void): Clock {
  const timers = new Set<NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  let isStopped = false;
  const start = async (task: Task) => {
    // A video may be deleted during a step; the other steps continue.
    const run = task().catch((error: unknown) => log(`a step failed: ${error}`));
    running.add(run);
    await run;
    running.delete(run);
  };
  return {
    now: Date.now,
    after: (ms, task) => {
      if (isStopped) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        void start(task);
      }, ms);
      timers.add(timer);
    },
    stop: async () => {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      await Promise.allSettled(running);
    },
  };
}

export function manualClock(start = Date.now()): ManualClock {
  let time = start;
  let waiting: { readonly at: number; readonly task: Task }[] = [];
  const takeDue = (until: number) => {
    const first = waiting.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
    waiting = waiting.filter((entry) => entry !== first);
    return first;
  };
  return {
    now: () => time,
    after: (ms, task) => void waiting.push({ at: time + ms, task }),
    advance: async (ms) => {
      const until = time + ms;
      for (let due = takeDue(until); due; due = takeDue(until)) {
        time = Math.max(time, due.at);
        await due.task();
      }
      time = Math.max(time, until);
    },
    stop: async () => {
      waiting = [];
    },
  };
}

type Plan<Step> = {
  readonly clock: Clock;
  readonly stepMs: number;
  readonly steps: readonly Step[];
  readonly isReplaced: () => boolean;
  readonly runStep: (step: Step) => Promise<void>;
};

/** Runs the steps of an encoding with a delay before each, until another plan replaces it. */
export function runSteps<Step>(plan: Plan<Step>): void {
  const [step, ...steps] = plan.steps;
  if (step === undefined) return;
  plan.clock.after(plan.stepMs, async () => {
    if (plan.isReplaced()) return;
    await plan.runStep(step);
    runSteps({ ...plan, steps });
  });
}
