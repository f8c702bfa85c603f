// Health checks for load balancers and supervisors.
import { getHealth, getReadiness } from '@mediary/contract/operations/service';
import { type Input, open } from '../platform/http/route.ts';
import type { Readiness } from './health.ts';

/** Protection → whether it holds here. */
export type SandboxState = Readonly<Record<string, boolean>>;

type HealthRoutesNeeds = {
  checkReadiness(): Promise<Readiness>;
  readonly sandbox: SandboxState;
  isOperator(headers: Input['headers']): boolean;
};

export const healthRoutes = (health: HealthRoutesNeeds) => [
  open(getHealth, async () => ({ status: 'ok' as const })),
  open(getReadiness, async ({ headers }) => ({
    ...(await health.checkReadiness()),
    ...(health.isOperator(headers) && { sandbox: health.sandbox }),
  })),
];
