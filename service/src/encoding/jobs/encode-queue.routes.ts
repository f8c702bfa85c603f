// For operators: the encodes that run and wait, and cancelling one.
import { type Static, Type } from 'typebox';
import { nullable } from '../../assets/asset-view.ts';
import type { guarded } from '../../platform/http/route.ts';
import type { CancelledEncode, EncodeFilter, EncodeQueue } from './encode-queue.ts';

type EncodeQueueVerbs = {
  listEncodes(filter: EncodeFilter): Promise<EncodeQueue>;
  cancelEncode(assetId: string): Promise<CancelledEncode>;
};
type AsOperator = ReturnType<typeof guarded<undefined, object>>;

const Encode = Type.Object({
  asset_id: Type.String({ format: 'uuid' }),
  owner_user_id: Type.String(),
  filename: Type.String(),
  duration_ms: nullable(Type.Integer()),
  attempt: Type.Integer(),
  state: Type.Enum(['running', 'waiting']),
  position: nullable(Type.Integer({ description: '1 is the next to run; null while it runs' })),
  queued_at: Type.String({ format: 'date-time' }),
  started_at: nullable(Type.String({ format: 'date-time', description: 'Of the current run' })),
  progress: Type.Integer({ description: 'Percent' }),
  worker: nullable(Type.String({ description: 'Host name and process id of the worker that runs it' })),
});
const Queue = Type.Object({
  running: Type.Integer({ description: 'Of all owners' }),
  waiting: Type.Integer({ description: 'Of all owners' }),
  items: Type.Array(Encode),
});
const Query = Type.Object({
  owner_user_id: Type.Optional(Type.String({ description: 'Only the encodes of this owner' })),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 200 }),
});

export const encodeQueueRoutes = (queue: EncodeQueueVerbs, asOperator: AsOperator) => [
  asOperator({
    method: 'GET',
    url: '/admin/encodes',
    message: 'Encodes',
    summary:
      'Lists the encodes of all workers: running ones first, then waiting ones in the order in which they will run',
    query: Query,
    answer: Queue,
    handle: async ({ query: { owner_user_id: ownerUserId, limit } }) =>
      (await queue.listEncodes({ ownerUserId, limit })) as Static<typeof Queue>,
  }),
  asOperator({
    method: 'POST',
    url: '/admin/encodes/:id/cancel',
    message: 'Encode cancelled',
    summary:
      'Cancels a running or waiting encode: the asset becomes failed with code cancelled, which its owner can retry. 409 for an asset that is not being encoded',
    answer: Type.Object({ asset_id: Type.String({ format: 'uuid' }), cancelled: Type.Literal(true) }),
    errors: [404, 409],
    handle: ({ params }) => queue.cancelEncode(params['id'] ?? ''),
  }),
];
