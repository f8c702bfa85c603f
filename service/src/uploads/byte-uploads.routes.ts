// The address that an upload URL points to (contract B4).
import { putUpload } from '@mediary/contract/operations/playback';
import type { FastifyRequest } from 'fastify';
import type { Asset } from '../assets/asset.ts';
import { toAssetView } from '../assets/asset-view.ts';
import { closeAfterResponse } from '../platform/http/close-socket.ts';
import { success } from '../platform/http/envelope.ts';
import { bytesRoute } from '../platform/http/route.ts';
import type { ByteUpload } from './byte-uploads.ts';

type Transfers = { receiveUpload(transfer: ByteUpload): Promise<Asset> };

export const transferRoutes = (transfers: Transfers, publicBaseUrl: () => string) => [
  bytesRoute(putUpload, {
    body: 'stream',
    handle: async (request, reply) => {
      try {
        const asset = await transfers.receiveUpload(transferOf(request));
        return success(request.id, putUpload.message ?? '', toAssetView(asset, publicBaseUrl()));
      } catch (error) {
        if (!request.raw.complete) closeAfterResponse(request, reply);
        throw error;
      }
    },
  }),
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
