// For balancers and supervisors: alive, and ready to work.
import { Type } from 'typebox';
import { open } from '../platform/http/route.ts';
import type { Readiness } from './health.ts';

const Ok = Type.Literal('ok');

export const healthRoutes = (health: { readiness(): Promise<Readiness> }) => [
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
    summary: 'Database, store and queue answer',
    answer: Type.Object({ database: Ok, store: Ok, queue: Ok }),
    handle: () => health.readiness(),
  }),
];
