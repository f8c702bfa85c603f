// Erasures, exports and imports of owners, for operators.
import {
  eraseOwner,
  exportOwner,
  getErasure,
  getErasureReceipt,
  importOwner,
  listReceiptKeys,
} from '@mediary/contract/operations/admin/owners';
import { parseOwnerId } from '../auth/user-id.ts';
import { success } from '../platform/http/envelope.ts';
import { conflict } from '../platform/http/errors.ts';
import { attachment } from '../platform/http/headers.ts';
import { readStreamedBody } from '../platform/http/limits/body-memory.ts';
import { drainRefusedBody } from '../platform/http/limits/refused-bodies.ts';
import type { OwnersContext } from './context.ts';
import * as erasure from './erasure.ts';
import { openExport } from './export.ts';
import { importOwner as importArchive } from './import/import-owner.ts';

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
  ctx.asOperatorBytes(importOwner, {
    body: 'stream',
    parse: ({ params }) => ({ owner: parseOwnerId(params.owner_user_id) }),
    handle: async ({ owner }, { request, reply }) => {
      const report = await importArchive(ctx, { owner, bytes: readStreamedBody(request.raw) });
      // The client reads the report of an import that ended early, while it still sends.
      if (!report.is_complete) drainRefusedBody(request, reply.header('connection', 'close'));
      return success(request.id, importOwner.message ?? '', report);
    },
  }),
  ctx.asOperator(listReceiptKeys, async () => ({ items: erasure.listReceiptKeys(ctx), next_cursor: null })),
];
