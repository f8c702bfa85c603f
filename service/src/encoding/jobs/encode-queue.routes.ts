// For operators: lists the running and waiting encodes, and cancels one.
import { cancelEncode, listEncodes } from '@mediary/contract/operations/usage';
import type { AsOperator } from '../../platform/http/route.ts';
import type { CancelledEncode, EncodeFilter, EncodeQueue } from './encode-queue.ts';

type EncodeQueueVerbs = {
  listEncodes(filter: EncodeFilter): Promise<EncodeQueue>;
  cancelEncode(assetId: string): Promise<CancelledEncode>;
};

export const encodeQueueRoutes = (queue: EncodeQueueVerbs, asOperator: AsOperator) => [
  asOperator(listEncodes, async ({ query: { owner_user_id: ownerUserId, limit } }) => {
    const { items, ...counts } = await queue.listEncodes({ ownerUserId, limit });
    return { ...counts, items: [...items] };
  }),
  asOperator(cancelEncode, ({ params }) => queue.cancelEncode(params.id)),
];
