// The address that an upload URL points to (contract B4).
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Asset } from '../assets/asset.ts';
import { AssetView, toAssetView } from '../assets/asset-view.ts';
import { closeAfterResponse } from '../platform/http/close-socket.ts';
import { success } from '../platform/http/envelope.ts';
import type { RawRoute } from '../platform/http/route.ts';
import { MIN_BODY_RATE } from '../platform/http/body-timeout.ts';
import type { ByteUpload } from './byte-uploads.ts';

type Transfers = { receiveUpload(transfer: ByteUpload): Promise<Asset> };

export const transferRoutes = (transfers: Transfers, publicBaseUrl: () => string): RawRoute[] => [
  {
    kind: 'raw',
    method: 'PUT',
    url: '/uploads/:id',
    body: 'stream',
    query: Type.Object({ ticket: Type.Optional(Type.String()) }),
    summary: 'Takes the bytes of an original in one request, opened by the ticket in its URL',
    answer: AssetView,
    answers: {
      200: 'Stored; the asset in the envelope',
      400: `Content-Range, or a Content-Encoding other than identity; longer or shorter than announced, broken off, or slower than ${MIN_BODY_RATE.bytes} bytes in ${MIN_BODY_RATE.seconds} s`,
      401: 'Ticket missing, altered or expired',
      404: 'No such asset',
      409: 'A second writer, or the bytes are there already',
      413: 'Over the maximum',
      415: 'Another Content-Type than the upload URL names',
      503: 'Less than MIN_FREE_BYTES is free; try again later',
    },
    handle: async (request, reply) => {
      try {
        return success(
          request.id,
          'Uploaded',
          toAssetView(await transfers.receiveUpload(transferOf(request)), publicBaseUrl()),
        );
      } catch (error) {
        if (!request.raw.complete) closeAfterResponse(request, reply);
        throw error;
      }
    },
  },
];

function transferOf({ raw, headers, params, query }: FastifyRequest): ByteUpload {
  const length = headers['content-length'];
  return {
    assetId: (params as { id: string }).id,
    ticket: (query as { ticket?: string }).ticket ?? '',
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
    contentRange: headers['content-range'],
    length: length === undefined ? undefined : Number(length),
    // To stop reading must not destroy the socket: the refusal has yet to be sent.
    bytes: raw.iterator({ destroyOnReturn: false }),
  };
}
