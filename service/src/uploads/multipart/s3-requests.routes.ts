// Uploads in parts in the XML of S3, for clients that speak it (contract B4). A client signs each request by
// asking the service, so that these URLs stand in for those of the store; only parts go to the store itself.
import { abortS3Upload, listS3Parts, postS3Request } from '@mediary/contract/operations/s3-requests';
import type { FastifyReply } from 'fastify';
import type { Asset } from '../../assets/asset.ts';
import { escapeXml } from '../../assets/markup.ts';
import { type BytesRequest, bytesRoute } from '../../platform/http/route.ts';
import { uploadKey } from '../../storage/object-key.ts';
import type { UploadsContext } from '../context.ts';
import { authorizeUpload } from '../put/byte-uploads.ts';
import { completeMultipart } from './multipart-completion.ts';
import { abortMultipart, createMultipart, listParts } from './multipart-uploads.ts';

type Request = BytesRequest<
  { readonly ticket?: string; readonly uploadId?: string },
  { readonly id: string }
>;

/** The list of 10 000 parts, the limit of S3, takes less. */
const MAX_BODY_BYTES = 2 * 1024 ** 2;

export function s3RequestRoutes(ctx: UploadsContext) {
  const authorize = ({ params, query: { ticket = '', uploadId } }: Request) =>
    authorizeUpload(ctx, { assetId: params.id, uploadId, ticket });
  return [
    bytesRoute(postS3Request, {
      body: { maxBytes: MAX_BODY_BYTES },
      handle: async (request, reply) => {
        const asset = await authorize(request);
        const { uploadId } = request.query;
        return sendXml(
          reply,
          uploadId === undefined ? await create(ctx, asset) : await complete(ctx, asset, uploadId),
        );
      },
    }),
    bytesRoute(listS3Parts, {
      handle: async (request, reply) => {
        const asset = await authorize(request);
        const { uploadId } = request.query;
        return sendXml(reply, renderParts(asset, uploadId, await listParts(ctx, asset, uploadId)));
      },
    }),
    bytesRoute(abortS3Upload, {
      handle: async (request, reply) => {
        await abortMultipart(ctx, await authorize(request), request.query.uploadId);
        return reply.code(204).send();
      },
    }),
  ];
}

const sendXml = (reply: FastifyReply, xml: string): FastifyReply =>
  reply.type('application/xml').send(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`);

async function create(ctx: UploadsContext, asset: Asset): Promise<string> {
  const { id } = await createMultipart(ctx, asset, undefined);
  return `<InitiateMultipartUploadResult>${renderIds(asset, id)}</InitiateMultipartUploadResult>`;
}

async function complete(ctx: UploadsContext, asset: Asset, id: string): Promise<string> {
  await completeMultipart(ctx, asset, { id });
  const location = `<Location>${ctx.settings.publicBaseUrl()}/api/v1/media/${asset.id}</Location>`;
  return `<CompleteMultipartUploadResult>${location}${renderIds(asset, id)}</CompleteMultipartUploadResult>`;
}

const renderIds = (asset: Asset, id: string): string =>
  `<Key>${uploadKey(asset.id, id)}</Key><UploadId>${id}</UploadId>`;

function renderParts(asset: Asset, id: string, parts: Awaited<ReturnType<typeof listParts>>): string {
  const elements = parts.map(({ partNumber, etag, sizeBytes }) =>
    [
      `<Part><PartNumber>${partNumber}</PartNumber>`,
      `<ETag>${escapeXml(etag)}</ETag><Size>${sizeBytes}</Size></Part>`,
    ].join(''),
  );
  const content = [renderIds(asset, id), '<IsTruncated>false</IsTruncated>', ...elements];
  return `<ListPartsResult>${content.join('')}</ListPartsResult>`;
}
