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
import type { Bound } from '../../platform/bind.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import { readStreamedBody } from '../../platform/http/limits/body-memory.ts';
import { drainRefusedBody } from '../../platform/http/limits/refused-bodies.ts';
import { type BytesRequest, bytesRoute } from '../../platform/http/route.ts';
import type { authorizeUpload } from '../put/byte-uploads.ts';
import type { answerTus, TusMethod, TusRequest } from './tus-requests.ts';

const TUS_VERSION = '1.0.0';

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
    reply.header('tus-resumable', TUS_VERSION);
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
      // Nobody reads the rest of a body that was read in part, however small it is.
      if (isConflict(error) && !request.raw.complete) reply.header('connection', 'close');
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

/** Throws PRECONDITION_FAILED, as the protocol demands. */
function assertVersion({ method, headers }: TusHttpRequest): void {
  if (method === 'OPTIONS' || headers['tus-resumable'] === TUS_VERSION) return;
  throw new ServiceError(
    'PRECONDITION_FAILED',
    `The request needs the header Tus-Resumable: ${TUS_VERSION}`,
    {
      headers: { 'tus-version': TUS_VERSION },
    },
  );
}

async function toTusRequest(needs: TusRouteNeeds, request: TusHttpRequest): Promise<TusRequest> {
  const { raw, headers, params, query } = request;
  const target = {
    method: request.method as TusMethod,
    uploadId: params.upload,
    ticket: query.ticket ?? '',
  };
  const length = headers['content-length'];
  const asset = await needs.authorize({ ...target, assetId: params.id });
  assertVersion(request);
  return {
    ...target,
    asset,
    headers,
    body: {
      length: length === undefined ? undefined : Number(length),
      bytes: readStreamedBody(raw),
    },
  };
}
