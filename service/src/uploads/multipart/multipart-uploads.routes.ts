// Routes of uploads in parts (contract B4). The ticket is in the query, or in a header, which no log shows.
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listUploadParts,
  signUploadPart,
  signUploadParts,
} from '@mediary/contract/operations/multipart';
import type { FastifyRequest } from 'fastify';
import { type AssetViewContext, toAssetView } from '../../assets/asset-view.ts';
import type { Asset } from '../../assets/asset.ts';
import { badRequest, notFound } from '../../platform/http/errors.ts';
import { guarded } from '../../platform/http/route.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import { uploadKey } from '../../storage/object-key.ts';
import type { UploadsContext } from '../context.ts';
import { assertUploadTicket, authorizeUpload } from '../put/byte-uploads.ts';
import { completeMultipart } from './multipart-completion.ts';
import {
  abortMultipart,
  createMultipart,
  listParts,
  type SignedPart,
  signParts,
} from './multipart-uploads.ts';

export function multipartRoutes(ctx: UploadsContext, view: AssetViewContext) {
  const asUploader = uploaderGuard(ctx);
  const show = (part: SignedPart) => toSignedPart(part, ctx.clocks.now());
  return [
    asUploader(createMultipartUpload, async ({ asset, body }) => {
      const { id, target, expires_at } = await createMultipart(ctx, asset, body.size_bytes);
      return {
        uploadId: id,
        key: uploadKey(asset.id, id),
        part_size_bytes: target.part_bytes,
        max_parts: Math.ceil(target.max_bytes / target.part_bytes),
        expires_at: expires_at.toISOString(),
      };
    }),
    asUploader(signUploadPart, async ({ asset, params: { upload: id, part }, query }) => {
      const sha256 = query.checksum_sha256?.toLowerCase();
      const request = { partNumber: toPartNumber(part), sizeBytes: query.size_bytes, sha256 };
      const [signed] = await signParts(ctx, asset, { id, parts: [request] });
      return show(signed as SignedPart);
    }),
    asUploader(signUploadParts, async ({ asset, params: { upload: id }, body }) => {
      const parts = body.parts.map(({ PartNumber, Size, checksum_sha256: sha256 }) => ({
        partNumber: PartNumber,
        sizeBytes: Size,
        sha256: sha256?.toLowerCase(),
      }));
      return { parts: (await signParts(ctx, asset, { id, parts })).map(show) };
    }),
    asUploader(listUploadParts, async ({ asset, params }) => {
      const parts = await listParts(ctx, asset, params.upload);
      return {
        parts: parts.map(({ partNumber, sizeBytes, etag }) => ({
          PartNumber: partNumber,
          Size: sizeBytes,
          ETag: etag,
        })),
      };
    }),
    asUploader(completeMultipartUpload, async ({ asset, params: { upload: id }, body }) => {
      const parts = body.parts?.map(({ PartNumber, ETag }) => ({ partNumber: PartNumber, etag: ETag }));
      return toAssetView(await completeMultipart(ctx, asset, { id, parts }), view);
    }),
    asUploader(abortMultipartUpload, async ({ asset, params: { upload: uploadId } }) => {
      await abortMultipart(ctx, asset, uploadId);
      return { uploadId, aborted: true as const };
    }),
  ];
}

/** Checks the ticket before it reads the body. */
const uploaderGuard = (ctx: UploadsContext) =>
  guarded<ReturnType<typeof toTicketRequest>, { readonly asset: Asset }>({
    name: 'ticket',
    identify: (request) => {
      const ticketRequest = toTicketRequest(request);
      assertUploadTicket(ctx, ticketRequest);
      return ticketRequest;
    },
    admit: async (request) => {
      if (request.uploadId !== undefined && !isUuid(request.uploadId))
        throw notFound('No such upload. Create another one.');
      return { asset: await authorizeUpload(ctx, request) };
    },
  });

function toTicketRequest({ headers, params, query }: FastifyRequest) {
  const { id, upload } = params as { readonly id: string; readonly upload?: string };
  const { ticket } = query as { readonly ticket?: unknown };
  const presented = headers['x-upload-ticket'] ?? ticket;
  return { assetId: id, uploadId: upload, ticket: typeof presented === 'string' ? presented : '' };
}

const PART_NUMBER = /^[1-9]\d{0,4}$/;

function toPartNumber(text: string): number {
  if (!PART_NUMBER.test(text))
    throw badRequest('part must be a number from 1 to 10000', { field: 'part', limit: 10_000 });
  return Number(text);
}

const toSignedPart = ({ partNumber, url, headers, expiresAt }: SignedPart, now: Date) => ({
  PartNumber: partNumber,
  method: 'PUT' as const,
  url,
  headers: { ...headers },
  expires: Math.max(0, Math.floor((expiresAt.getTime() - now.getTime()) / 1000)),
  expires_at: expiresAt.toISOString(),
});
