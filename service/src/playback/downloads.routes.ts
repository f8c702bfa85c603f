// Downloads of originals: the signed URL, and the bytes behind it (contract B5).
import { downloadOriginal, getDownloadUrl } from '@mediary/contract/operations/playback';
import type { Asset } from '../assets/asset.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import { attachment } from '../platform/http/headers.ts';
import { bytesRoute, type Route } from '../platform/http/route.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import { originalKey } from '../storage/object-key.ts';

type Downloads = {
  createDownloadUrl(asset: Asset): Promise<{ url: string; expires_at: string; filename: string }>;
  findDownload(id: string, ticket: string): Promise<Asset>;
};

export const downloadRoutes = (
  downloads: Downloads,
  { ownAsset }: Guards,
  objects: ObjectResponses,
): Route[] => [
  ownAsset(getDownloadUrl, ({ asset }) => downloads.createDownloadUrl(asset)),
  bytesRoute(downloadOriginal, {
    handle: async (request, reply) => {
      const asset = await downloads.findDownload(request.params.id, request.query.ticket ?? '');
      const known = {
        'content-type': asset.mime_type,
        'content-disposition': attachment(asset.filename),
        'cache-control': 'private, no-store',
      };
      const { status, headers, body } = await objects.sendObject(
        { request, reply },
        { key: originalKey(asset), etag: asset.checksum_sha256 ?? asset.id, headers: known },
      );
      return reply.code(status).headers(headers).send(body);
    },
  }),
];
