// For operators: lists the running and waiting encodes, and cancels one.
import { cancelEncode, listEncodes } from '@mediary/contract/operations/usage';
import type { BoundOperations } from '../../platform/bind.ts';
import type { AsOperator } from '../../platform/http/route.ts';
import type * as queueOperations from './encode-queue.ts';

export const encodeQueueRoutes = (queue: BoundOperations<typeof queueOperations>, asOperator: AsOperator) => [
  asOperator(listEncodes, async ({ query: { owner_user_id: ownerUserId, limit, cursor } }) => {
    const { items, ...counts } = await queue.listEncodes({ ownerUserId, limit, cursor });
    return { ...counts, items: [...items] };
  }),
  asOperator(cancelEncode, ({ params }) => queue.cancelEncode(params.id)),
];
