// Routes of resumable uploads (contract B4). The protocol has no GET.
import {
  createResumableUpload,
  describeResumableUploads,
  findUploadOffset,
  patchResumableUpload,
  terminateResumableUpload,
} from '@mediary/contract/operations/resumable';
import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../platform/http/errors.ts';
import { readStreamedBody } from '../../platform/http/limits/body-memory.ts';
import { drainRefusedBody } from '../../platform/http/limits/refused-bodies.ts';
import { type BytesRequest, bytesRoute } from '../../platform/http/route.ts';
import type { UploadsContext } from '../context.ts';
import { answerTusOrRelay, authorizeTus } from './tus-relay.ts';
import type { TusMethod, TusRequest } from './tus-requests.ts';

const TUS_VERSION = '1.0.0';

type TusHttpRequest = BytesRequest<
  { readonly ticket?: string },
  { readonly id: string; readonly upload?: string }
>;

export function tusRoutes(ctx: UploadsContext) {
  const handle = async (request: TusHttpRequest, reply: FastifyReply) => {
    reply.header('tus-resumable', TUS_VERSION);
    try {
      const { status, headers } = await ctx.intake.inFlight.track(answer(ctx, request));
      drainRefusedBody(request, reply.code(status).headers(headers));
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

const answer = async (ctx: UploadsContext, request: TusHttpRequest) =>
  answerTusOrRelay(ctx, await toTusRequest(ctx, request));

async function toTusRequest(ctx: UploadsContext, request: TusHttpRequest): Promise<TusRequest> {
  const { raw, headers, params, query } = request;
  const target = {
    method: request.method as TusMethod,
    uploadId: params.upload,
    ticket: query.ticket ?? '',
  };
  const length = headers['content-length'];
  const asset = await authorizeTus(ctx, { ...target, assetId: params.id });
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
