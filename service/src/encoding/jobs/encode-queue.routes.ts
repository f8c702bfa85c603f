// For operators: lists the running and waiting encodes, and cancels one.
import { cancelEncode as cancel, listEncodes as list } from '@mediary/contract/operations/admin/usage';
import type { EncodingContext } from '../context.ts';
import { cancelEncode, listEncodes } from './encode-queue.ts';

export const encodeQueueRoutes = (ctx: EncodingContext) => [
  ctx.asOperator(list, async ({ query: { owner_user_id: ownerUserId, limit, cursor } }) => {
    const { items, ...counts } = await listEncodes(ctx, { ownerUserId, limit, cursor });
    return { ...counts, items: [...items] };
  }),
  ctx.asOperator(cancel, ({ params }) => cancelEncode(ctx, params.id)),
];
