// For balancers and supervisors: alive, and ready to work.
import { Type } from 'typebox';
import { type Input, open } from '../platform/http/route.ts';
import type { Readiness } from './health.ts';

const Ok = Type.Literal('ok');

/** Protection → whether it holds here. */
export type SandboxState = Readonly<Record<string, boolean>>;

type HealthRoutesNeeds = {
  checkReadiness(): Promise<Readiness>;
  readonly sandbox: SandboxState;
  isOperator(headers: Input['headers']): boolean;
};

export const healthRoutes = (health: HealthRoutesNeeds) => [
  open({
    method: 'GET',
    rateClass: 'none',
    url: '/healthz',
    message: 'Alive',
    summary: 'The process answers',
    answer: Type.Object({ status: Ok }),
    handle: async () => ({ status: 'ok' as const }),
  }),
  open({
    method: 'GET',
    rateClass: 'none',
    url: '/readyz',
    message: 'Ready',
    summary:
      'Database, store and queue answer. With a valid X-Operator-Key: which protections of the sandbox of decoders hold',
    answer: Type.Object({
      database: Ok,
      store: Ok,
      queue: Ok,
      sandbox: Type.Optional(Type.Record(Type.String(), Type.Boolean())),
    }),
    handle: async ({ headers }) => ({
      ...(await health.checkReadiness()),
      ...(health.isOperator(headers) && { sandbox: health.sandbox }),
    }),
  }),
];
