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
  rateClass: 'none',
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
  rateClass: 'none',
  summary: 'Reports whether database, store and queue respond',
  description:
    'With a valid `X-Operator-Key`, `sandbox` lists the protections of media decoders and whether ' +
    'each is active on this machine.',
  message: 'Ready',
  data: Type.Object(
    {
      database: Ok,
      store: Ok,
      queue: Ok,
      sandbox: Type.Optional(
        Type.Record(Type.String(), Type.Boolean(), {
          description: 'For operators: protection → true when it is active.',
        }),
      ),
    },
    { $id: 'Readiness' },
  ),
  example: { database: 'ok', store: 'ok', queue: 'ok' },
  errors: [{ code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' }],
});
