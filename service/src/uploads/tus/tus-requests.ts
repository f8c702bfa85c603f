// Answers requests of tus 1.0.0: leases the upload, compares the offset, appends, answers (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import { badRequest, forbidden, notFound } from '../../platform/http/errors.ts';
import type { UploadsContext } from '../context.ts';
import type { LeasedUpload, ResumableRow } from '../original/leased-uploads.ts';
import type { UploadBody } from './body-reader.ts';
import { concatenate, findFinal } from './concatenation.ts';
import { appendBytes } from './resumable-bytes.ts';
import { createResumable, declareResumable, openResumable, terminateResumable } from './resumable-uploads.ts';
import {
  offsetMismatch,
  otherUploadLength,
  parseAppend,
  parseCreation,
  type TusHeaders,
} from './tus-headers.ts';
import { formatFinal, parseUploadConcat, partsOf } from './upload-concat.ts';

export type TusMethod = 'POST' | 'HEAD' | 'PATCH' | 'DELETE' | 'OPTIONS';

export type TusRequest = {
  readonly method: TusMethod;
  readonly headers: TusHeaders;
  readonly asset: Asset;
  /** Undefined for requests to the asset's collection of uploads. */
  readonly uploadId: string | undefined;
  readonly ticket: string;
  readonly body: UploadBody;
};

export type TusResponse = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

const EXTENSIONS = 'creation,creation-with-upload,creation-defer-length,expiration,termination,concatenation';

/** Throws a ServiceError for every status from 400. */
export async function answerTus(ctx: UploadsContext, request: TusRequest): Promise<TusResponse> {
  const { method, asset, uploadId } = request;
  if (method === 'OPTIONS') return describe(ctx, asset);
  if (method === 'POST') return create(ctx, request);
  if (uploadId === undefined) throw notFound('No such upload. Create another one.');
  if (method === 'DELETE') return terminate(ctx, asset, uploadId);
  // Reading a final upload must not take the lease from the request that joins its parts.
  const final = await findFinal(ctx, asset, uploadId);
  if (final) return answerFinal(request, final);
  return method === 'HEAD' ? read(ctx, asset, uploadId) : append(ctx, request, uploadId);
}

const describe = ({ settings }: UploadsContext, { announced_size_bytes: announced }: Asset): TusResponse => ({
  status: 204,
  headers: {
    'tus-version': '1.0.0',
    'tus-extension': EXTENSIONS,
    'tus-max-size': String(announced ?? settings.maxUploadBytes),
  },
});

/** Relative, so that it is right behind every proxy. */
const locationOf = (id: string, ticket: string): string => `tus/${id}?ticket=${ticket}`;

async function create(ctx: UploadsContext, request: TusRequest): Promise<TusResponse> {
  const { asset, ticket, headers, body } = request;
  const concat = parseUploadConcat(headers, asset.id);
  if (typeof concat === 'object') return createFinal(ctx, request, concat);
  const { sizeBytes, hasBytes } = parseCreation(headers);
  const upload = { id: randomUUID(), sizeBytes, isPartial: concat === 'partial' };
  return whileLeased(await createResumable(ctx, asset, upload), async (leased) => {
    const row = hasBytes ? await appendBytes(ctx, asset, { leased, body }) : leased.row;
    const location = locationOf(row.id, ticket);
    const offset = hasBytes && { 'upload-offset': String(row.bytes_received) };
    return { status: 201, headers: { location, ...offset, ...expiryOf(row) } };
  });
}

async function createFinal(
  ctx: UploadsContext,
  { asset, ticket, headers, body }: TusRequest,
  parts: readonly string[],
): Promise<TusResponse> {
  for (const field of ['Upload-Length', 'Upload-Defer-Length'])
    if (headers[field.toLowerCase()] !== undefined)
      throw badRequest(`A final upload has the length of its parts: omit ${field}`, { field });
  if ((body.length ?? 0) > 0 || headers['transfer-encoding'] !== undefined)
    throw badRequest('A final upload has the bytes of its parts: send no body', { field: 'body' });
  return { status: 201, headers: { location: locationOf(await concatenate(ctx, asset, parts), ticket) } };
}

/** The offset is known when all parts are joined. */
function answerFinal({ method, asset }: TusRequest, row: ResumableRow): TusResponse {
  if (method === 'PATCH')
    throw forbidden('A final upload has the bytes of its parts, and takes no others.', {
      reason: 'final_upload',
    });
  const length = String(row.size_bytes);
  return {
    status: 200,
    headers: {
      'cache-control': 'no-store',
      'upload-concat': formatFinal(asset.id, partsOf(row)),
      'upload-length': length,
      ...(row.finished_at ? { 'upload-offset': length } : { 'upload-expires': row.expires_at.toUTCString() }),
    },
  };
}

const read = async (ctx: UploadsContext, asset: Asset, id: string): Promise<TusResponse> =>
  whileLeased(await openResumable(ctx, asset, id), async ({ row }) => ({
    status: 200,
    headers: {
      'cache-control': 'no-store',
      'upload-offset': String(row.bytes_received),
      ...(row.size_bytes === null
        ? { 'upload-defer-length': '1' }
        : { 'upload-length': String(row.size_bytes) }),
      ...(row.concatenation === 'partial' && { 'upload-concat': 'partial' }),
    },
  }));

async function append(
  ctx: UploadsContext,
  { asset, headers, body }: TusRequest,
  id: string,
): Promise<TusResponse> {
  const { offset, length } = parseAppend(headers);
  return whileLeased(await openResumable(ctx, asset, id), async (opened) => {
    if (opened.row.bytes_received !== offset) throw offsetMismatch(opened.row.bytes_received);
    const leased = await withLength(ctx, asset, { leased: opened, length });
    const row = await appendBytes(ctx, asset, { leased, body });
    return { status: 204, headers: { 'upload-offset': String(row.bytes_received), ...expiryOf(row) } };
  });
}

type AnnouncedLength = { readonly leased: LeasedUpload; readonly length: number | undefined };

/** Clients repeat the length when they send the last chunk again. */
async function withLength(
  ctx: UploadsContext,
  asset: Asset,
  { leased, length }: AnnouncedLength,
): Promise<LeasedUpload> {
  const { size_bytes: known } = leased.row;
  if (length === undefined || length === known) return leased;
  if (known !== null) throw otherUploadLength(known);
  return declareResumable(ctx, asset, { leased, sizeBytes: length });
}

const terminate = async (ctx: UploadsContext, asset: Asset, id: string): Promise<TusResponse> =>
  whileLeased(await openResumable(ctx, asset, id), async (leased) => {
    await terminateResumable(ctx, leased);
    return { status: 204, headers: {} };
  });

/** A complete upload does not expire any more. */
const expiryOf = ({ size_bytes: size, bytes_received: received, expires_at: at }: ResumableRow) =>
  size === received ? {} : { 'upload-expires': at.toUTCString() };

async function whileLeased(
  leased: LeasedUpload,
  answer: (leased: LeasedUpload) => Promise<TusResponse>,
): Promise<TusResponse> {
  try {
    return await answer(leased);
  } finally {
    await leased.release();
  }
}
