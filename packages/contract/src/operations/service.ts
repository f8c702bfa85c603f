// Health of the service, for load balancers and supervisors.
import { Type } from 'typebox';
import { jsonOperation } from '../operation.ts';

const Ok = Type.Literal('ok');

export const getHealth = jsonOperation({
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  tag: 'Service',
  auth: 'none',
  summary: 'Reports that the process responds',
  message: 'Alive',
  data: Type.Object({ status: Ok }, { $id: 'Health' }),
  example: { status: 'ok' },
});

export const getReadiness = jsonOperation({
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  tag: 'Service',
  auth: 'none',
  summary: 'Reports whether database, store and queue respond',
  message: 'Ready',
  data: Type.Object({ database: Ok, store: Ok, queue: Ok }, { $id: 'Readiness' }),
  example: { database: 'ok', store: 'ok', queue: 'ok' },
});
