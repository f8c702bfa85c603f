// Routes of resumable uploads (contract B4). GET is not among them: the protocol library would end the
// process.
import {
  createResumableUpload,
  describeResumableUploads,
  findUploadOffset,
  patchResumableUpload,
  terminateResumableUpload,
} from '@mediary/contract/operations/resumable';
import type { FastifyReply } from 'fastify';
import type { Bound } from '../platform/bind.ts';
import { ServiceError } from '../platform/errors.ts';
import { readStreamedBody } from '../platform/http/body-memory.ts';
import { drainRefusedBody } from '../platform/http/refused-bodies.ts';
import { type BytesRequest, bytesRoute } from '../platform/http/route.ts';
import type { authorizeUpload } from './byte-uploads.ts';
import type { answerTus, TusMethod, TusRequest } from './tus-requests.ts';

type TusRouteNeeds = {
  readonly answerTus: Bound<typeof answerTus>;
  /** Returns the asset that the ticket belongs to; throws if the ticket is not valid. */
  readonly authorize: Bound<typeof authorizeUpload>;
};

type TusHttpRequest = BytesRequest<
  { readonly ticket?: string },
  { readonly id: string; readonly upload?: string }
>;

export function tusRoutes(needs: TusRouteNeeds) {
  const handle = async (request: TusHttpRequest, reply: FastifyReply) => {
    reply.header('tus-resumable', '1.0.0');
    try {
      const { status, headers } = await needs.answerTus(await toTusRequest(needs, request));
      // Cross-origin headers are the same on all routes.
      for (const [name, value] of Object.entries(headers))
        if (!name.startsWith('access-control-')) reply.header(name, value);
      drainRefusedBody(request, reply.code(status));
      return reply.send();
    } catch (error) {
      // Clients that get another status of HEAD start again from the first byte.
      if (request.method === 'HEAD' && isConflict(error))
        return reply.code(423).header('retry-after', '1').send();
      throw error;
    }
  };
  return [
    bytesRoute(createResumableUpload, { body: 'stream', handle }),
    bytesRoute(describeResumableUploads, { handle }),
    bytesRoute(findUploadOffset, { handle }),
    bytesRoute(patchResumableUpload, { body: 'stream', handle }),
    bytesRoute(terminateResumableUpload, { body: 'stream', handle }),
  ];
}

const isConflict = (error: unknown): boolean =>
  error instanceof ServiceError && error.details?.reason === 'upload_in_progress';

async function toTusRequest(needs: TusRouteNeeds, request: TusHttpRequest): Promise<TusRequest> {
  const { raw, headers, params, query } = request;
  const target = {
    method: request.method as TusMethod,
    uploadId: params.upload,
    ticket: query.ticket ?? '',
  };
  const length = headers['content-length'];
  return {
    ...target,
    asset: await needs.authorize({ ...target, assetId: params.id }),
    headers,
    body: {
      length: length === undefined ? undefined : Number(length),
      bytes: readStreamedBody(raw),
      stop: () => raw.destroy(),
    },
  };
}
