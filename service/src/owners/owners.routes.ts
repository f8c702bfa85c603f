// Erasures and exports of owners, for operators.
import {
  eraseOwner,
  exportOwner,
  getErasure,
  getErasureReceipt,
  listReceiptKeys,
} from '@mediary/contract/operations/admin/owners';
import { parseOwnerId } from '../auth/user-id.ts';
import { conflict } from '../platform/http/errors.ts';
import { attachment } from '../platform/http/headers.ts';
import type { OwnersContext } from './context.ts';
import * as erasure from './erasure.ts';
import { openExport } from './export.ts';

export const ownersRoutes = (ctx: OwnersContext) => [
  ctx.asOperator(eraseOwner, async ({ params, query }) => ({
    erasure: await erasure.startErasure(ctx, parseOwnerId(params.owner_user_id), {
      leavesVideos: query.leave_provider_videos === true,
    }),
  })),
  ctx.asOperator(getErasure, async ({ params }) => ({
    erasure: await erasure.getErasure(ctx, parseOwnerId(params.owner_user_id), params.id),
  })),
  ctx.asOperatorBytes(getErasureReceipt, {
    parse: ({ params }) => ({ owner: parseOwnerId(params.owner_user_id) }),
    handle: async ({ owner, params }, { reply }) => {
      const lines = await erasure.openReceipt(ctx, owner, params.id);
      if (!lines)
        throw conflict('The erasure still runs. Its receipt comes when it is completed.', {
          reason: 'erasure_not_completed',
        });
      return reply.type('application/x-ndjson').header('cache-control', 'no-store').send(lines);
    },
  }),
  ctx.asOperatorBytes(exportOwner, {
    parse: ({ params }) => ({ owner: parseOwnerId(params.owner_user_id) }),
    handle: async ({ owner }, { request, reply }) => {
      reply.type('application/x-tar').header('cache-control', 'no-store');
      reply.header('content-disposition', attachment(`${owner}.tar`));
      return reply.send(request.method === 'HEAD' ? undefined : await openExport(ctx, owner));
    },
  }),
  ctx.asOperator(listReceiptKeys, async () => ({ items: erasure.listReceiptKeys(ctx), next_cursor: null })),
];
