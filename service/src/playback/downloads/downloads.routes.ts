// Downloads of originals: the signed URL, and the bytes behind it (contract B5).
import { downloadOriginal, getDownloadUrl } from '@mediary/contract/operations/playback/downloads';
import { attachment } from '../../platform/http/headers.ts';
import { bytesRoute, type Route } from '../../platform/http/route.ts';
import { originalKey } from '../../storage/object-key.ts';
import type { PlaybackContext } from '../context.ts';
import { createDownloadUrl, getDownload } from './downloads.ts';

export const downloadRoutes = (ctx: PlaybackContext): Route[] => [
  ctx.guards.ownAsset(getDownloadUrl, ({ asset, caller }) => createDownloadUrl(ctx, asset, caller), {
    retryAfter: ({ retry_after_s: seconds }) => seconds ?? undefined,
  }),
  bytesRoute(downloadOriginal, {
    handle: async (request, reply) => {
      const asset = await getDownload(ctx, request.params.id, {
        ticket: request.query.ticket ?? '',
        request,
        reply,
      });
      const known = {
        'content-type': asset.mime_type,
        'content-disposition': attachment(asset.filename),
        'cache-control': 'private, no-store',
      };
      const { status, headers, body } = await ctx.storage.sendObject(
        { request, reply },
        {
          key: originalKey(asset),
          etag: asset.checksum_sha256 ?? asset.original_upload ?? asset.id,
          headers: known,
        },
      );
      return reply.code(status).headers(headers).send(body);
    },
  }),
];
