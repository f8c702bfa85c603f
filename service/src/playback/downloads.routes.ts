// The way back to an original: a signed URL, and the bytes behind it (contract B5).
import { Type } from 'typebox';
import type { Asset } from '../assets/asset.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import { attachment } from '../platform/http/content-disposition.ts';
import type { Route } from '../platform/http/route.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import { originalKey } from '../storage/object-key.ts';

type Downloads = {
  createDownloadUrl(asset: Asset): Promise<{ url: string; expires_at: string; filename: string }>;
  findDownload(id: string, ticket: string): Promise<Asset>;
};

const DownloadUrl = Type.Object({
  url: Type.String(),
  expires_at: Type.String({ format: 'date-time' }),
  filename: Type.String(),
});

export const downloadRoutes = (
  downloads: Downloads,
  { ownAsset }: Guards,
  objects: ObjectResponses,
): Route[] => [
  ownAsset({
    method: 'GET',
    url: '/media/:id/download-url',
    message: 'Download URL',
    summary: 'A signed URL of the original',
    answer: DownloadUrl,
    errors: [403, 404, 503],
    handle: async ({ asset }) => downloads.createDownloadUrl(asset),
  }),
  {
    kind: 'raw',
    method: 'GET',
    url: '/downloads/:id',
    body: 'none',
    query: Type.Object({ ticket: Type.Optional(Type.String()) }),
    summary: 'The original under its own name, opened by the ticket in its URL',
    answers: {
      200: 'The bytes',
      206: 'A part of them',
      401: 'Ticket missing, altered or expired',
      404: 'No such asset',
      416: 'The range lies outside',
    },
    handle: async (request, reply) => {
      const asset = await downloads.findDownload(
        (request.params as { id: string }).id,
        (request.query as { ticket?: string }).ticket ?? '',
      );
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
  },
];
