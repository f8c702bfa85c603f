// Uploads in parts in the XML of S3, for clients that speak it (contract B4). A client signs each request by
// asking the service, so that these URLs stand in for those of the store; only parts go to the store itself.
import { abortS3Upload, listS3Parts, postS3Request } from '@mediary/contract/operations/s3-requests';
import type { FastifyReply } from 'fastify';
import type { Asset } from '../../assets/asset.ts';
import type { Bound } from '../../platform/bind.ts';
import { type BytesRequest, bytesRoute } from '../../platform/http/route.ts';
import { escapeXml } from '../../assets/markup.ts';
import { uploadKey } from '../../storage/object-key.ts';
import type { authorizeUpload } from '../put/byte-uploads.ts';
import type { completeMultipart } from './multipart-completion.ts';
import type * as operations from './multipart-uploads.ts';

type S3RequestNeeds = {
  readonly authorizeUpload: Bound<typeof authorizeUpload>;
  readonly createMultipart: Bound<typeof operations.createMultipart>;
  readonly listParts: Bound<typeof operations.listParts>;
  readonly completeMultipart: Bound<typeof completeMultipart>;
  readonly abortMultipart: Bound<typeof operations.abortMultipart>;
  readonly publicBaseUrl: () => string;
};

type Request = BytesRequest<
  { readonly ticket?: string; readonly uploadId?: string },
  { readonly id: string }
>;

/** The list of 10 000 parts, the limit of S3, takes less. */
const MAX_BODY_BYTES = 2 * 1024 ** 2;

export function s3RequestRoutes(needs: S3RequestNeeds) {
  const authorize = ({ params, query: { ticket = '', uploadId } }: Request) =>
    needs.authorizeUpload({ assetId: params.id, uploadId, ticket });
  return [
    bytesRoute(postS3Request, {
      body: { maxBytes: MAX_BODY_BYTES },
      handle: async (request, reply) => {
        const asset = await authorize(request);
        const { uploadId } = request.query;
        return sendXml(
          reply,
          uploadId === undefined ? await create(needs, asset) : await complete(needs, asset, uploadId),
        );
      },
    }),
    bytesRoute(listS3Parts, {
      handle: async (request, reply) => {
        const asset = await authorize(request);
        const { uploadId } = request.query;
        return sendXml(reply, renderParts(asset, uploadId, await needs.listParts(asset, uploadId)));
      },
    }),
    bytesRoute(abortS3Upload, {
      handle: async (request, reply) => {
        await needs.abortMultipart(await authorize(request), request.query.uploadId);
        return reply.code(204).send();
      },
    }),
  ];
}

const sendXml = (reply: FastifyReply, xml: string): FastifyReply =>
  reply.type('application/xml').send(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`);

async function create({ createMultipart }: S3RequestNeeds, asset: Asset): Promise<string> {
  const { id } = await createMultipart(asset, undefined);
  return `<InitiateMultipartUploadResult>${renderIds(asset, id)}</InitiateMultipartUploadResult>`;
}

async function complete(needs: S3RequestNeeds, asset: Asset, id: string): Promise<string> {
  await needs.completeMultipart(asset, { id });
  const location = `<Location>${needs.publicBaseUrl()}/api/v1/media/${asset.id}</Location>`;
  return `<CompleteMultipartUploadResult>${location}${renderIds(asset, id)}</CompleteMultipartUploadResult>`;
}

const renderIds = (asset: Asset, id: string): string =>
  `<Key>${uploadKey(asset.id, id)}</Key><UploadId>${id}</UploadId>`;

type Parts = Awaited<ReturnType<S3RequestNeeds['listParts']>>;

function renderParts(asset: Asset, id: string, parts: Parts): string {
  const elements = parts.map(({ partNumber, etag, sizeBytes }) =>
    [
      `<Part><PartNumber>${partNumber}</PartNumber>`,
      `<ETag>${escapeXml(etag)}</ETag><Size>${sizeBytes}</Size></Part>`,
    ].join(''),
  );
  const content = [renderIds(asset, id), '<IsTruncated>false</IsTruncated>', ...elements];
  return `<ListPartsResult>${content.join('')}</ListPartsResult>`;
}
