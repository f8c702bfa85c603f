// Downloads of originals: the signed URL, and the bytes behind it (contract B5).
import { downloadOriginal, getDownloadUrl } from '@mediary/contract/operations/playback';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { BoundOperations } from '../platform/bind.ts';
import { attachment } from '../platform/http/headers.ts';
import { bytesRoute, type Route } from '../platform/http/route.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import { originalKey } from '../storage/object-key.ts';
import type * as downloadOperations from './downloads.ts';

type Downloads = BoundOperations<typeof downloadOperations>;

export const downloadRoutes = (
  downloads: Downloads,
  { ownAsset }: Guards,
  objects: ObjectResponses,
): Route[] => [
  ownAsset(getDownloadUrl, ({ asset }) => downloads.createDownloadUrl(asset), {
    retryAfter: ({ retry_after_s: seconds }) => seconds ?? undefined,
  }),
  bytesRoute(downloadOriginal, {
    handle: async (request, reply) => {
      const asset = await downloads.getDownload(request.params.id, request.query.ticket ?? '');
      const known = {
        'content-type': asset.mime_type,
        'content-disposition': attachment(asset.filename),
        'cache-control': 'private, no-store',
      };
      const { status, headers, body } = await objects.sendObject(
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
