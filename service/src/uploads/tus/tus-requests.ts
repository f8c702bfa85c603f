// Handles tus 1.0.0 requests: @tus/server implements the protocol, our operations store the bytes.
import { randomUUID } from 'node:crypto';
import { DataStore, Server, Upload } from '@tus/server';
import type { Asset } from '../../assets/asset.ts';
import type { Bound } from '../../platform/bind.ts';
import {
  badRequest,
  conflict,
  type ErrorDetails,
  forbidden,
  notFound,
  payloadTooLarge,
  type ServiceError,
} from '../../platform/http/errors.ts';
import type { UploadBody } from './body-reader.ts';
import type { concatenate, findFinal } from './concatenation.ts';
import type { appendBytes } from './resumable-bytes.ts';
import type {
  createResumable,
  declareResumable,
  openResumable,
  terminateResumable,
} from './resumable-uploads.ts';
import type { LeasedUpload, ResumableRow } from '../original/leased-uploads.ts';
import { formatFinal, parseUploadConcat, partsOf } from './upload-concat.ts';

type TusNeeds = {
  readonly createResumable: Bound<typeof createResumable>;
  readonly openResumable: Bound<typeof openResumable>;
  readonly declareResumable: Bound<typeof declareResumable>;
  readonly appendBytes: Bound<typeof appendBytes>;
  readonly terminateResumable: Bound<typeof terminateResumable>;
  readonly concatenate: Bound<typeof concatenate>;
  readonly findFinal: Bound<typeof findFinal>;
  readonly maxUploadBytes: number;
  readonly uploadTtlSeconds: number;
};

/** Never GET: the library's handler of it can end the process, and it returns uploaded bytes. */
export type TusMethod = 'POST' | 'HEAD' | 'PATCH' | 'DELETE' | 'OPTIONS';

export type TusRequest = {
  readonly method: TusMethod;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly asset: Asset;
  /** Undefined for requests to the asset's collection of uploads. */
  readonly uploadId: string | undefined;
  readonly ticket: string;
  readonly body: UploadBody;
};

export type TusResponse = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'expiration',
  'termination',
  'concatenation',
];

/** Throws a ServiceError for every status from 400. */
export async function answerTus(needs: TusNeeds, request: TusRequest): Promise<TusResponse> {
  const { method, headers, asset, uploadId } = request;
  const concat = method === 'POST' ? parseUploadConcat(headers, asset.id) : undefined;
  if (typeof concat === 'object') return createFinal(needs, request, concat);
  // Reading a final upload must not take the lease from the request that joins its parts.
  const isRead = uploadId !== undefined && (method === 'HEAD' || method === 'PATCH');
  const final = isRead ? await needs.findFinal(asset, uploadId) : undefined;
  return final ? answerFinal(request, final) : answerByLibrary(needs, request, concat === 'partial');
}

async function createFinal(
  { concatenate: join }: TusNeeds,
  { asset, ticket, headers, body }: TusRequest,
  parts: readonly string[],
): Promise<TusResponse> {
  for (const field of ['Upload-Length', 'Upload-Defer-Length'])
    if (headers[field.toLowerCase()] !== undefined)
      throw badRequest(`A final upload has the length of its parts: omit ${field}`, { field });
  if ((body.length ?? 0) > 0 || headers['transfer-encoding'] !== undefined)
    throw badRequest('A final upload has the bytes of its parts: send no body', { field: 'body' });
  return { status: 201, headers: { location: locationOf(await join(asset, parts), ticket) } };
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
      ...(row.finished_at ? { 'upload-offset': length } : { [EXPIRES]: row.expires_at.toUTCString() }),
    },
  };
}

async function answerByLibrary(
  needs: TusNeeds,
  request: TusRequest,
  isPartial: boolean,
): Promise<TusResponse> {
  const id = request.uploadId ?? randomUUID();
  const failures: unknown[] = [];
  const { method } = request;
  // The library gets no body: our store reads it from the socket, without the copies of web streams.
  const webRequest = new Request('http://uploads/', { method, headers: headersOf(request) });
  const exchange = createExchange(needs, request, { id, isPartial, sentHeaders: webRequest.headers });
  const server = new Server({
    path: '/',
    datastore: exchange.store,
    locker: { newLock: () => exchange },
    getFileIdFromRequest: () => id,
    namingFunction: () => id,
    generateUrl: () => locationOf(id, request.ticket),
    maxSize: method === 'OPTIONS' ? maxSizeOf(needs, request.asset) : 0,
    onResponseError: (_request, error) => {
      failures.push(error);
      return undefined;
    },
  });
  const response = await server.handleWeb(webRequest as never);
  if (failures.length > 0 && !isTusError(failures[0])) throw failures[0];
  if (response.status >= 400) throw toTusFailure(response.status, await response.text());
  const headers = Object.fromEntries(response.headers);
  // The library computes it from the upload as it was before the request.
  if (EXPIRES in headers) headers[EXPIRES] = exchange.expiresAt().toUTCString();
  if (method === 'HEAD' && exchange.isPartial()) headers['upload-concat'] = 'partial';
  return { status: response.status, headers };
}

const EXPIRES = 'upload-expires';

/** Relative, so that it is right behind every proxy. */
const locationOf = (id: string, ticket: string): string => `tus/${id}?ticket=${ticket}`;

const maxSizeOf = ({ maxUploadBytes }: TusNeeds, { announced_size_bytes: announced }: Asset): number =>
  announced ?? maxUploadBytes;

function headersOf({ headers }: TusRequest): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && COPIED.test(name)) copied.set(name, String(value));
  return copied;
}

/** The library refuses Upload-Concat. */
const COPIED = /^(?:tus-|upload-(?!concat)|content-(?:type|length)$)/;

/** `sentHeaders` are those that the library reads. */
type TusExchange = { readonly id: string; readonly isPartial: boolean; readonly sentHeaders: Headers };

/** The store and the lock of one request. */
function createExchange(
  needs: TusNeeds,
  { method, asset, body }: TusRequest,
  { id, isPartial, sentHeaders }: TusExchange,
) {
  let leased: LeasedUpload | undefined;
  const held = (): LeasedUpload => {
    if (!leased) throw notFound('No such upload. Create another one.');
    return leased;
  };
  const store = Object.assign(new DataStore(), {
    extensions: EXTENSIONS,
    create: async (upload: Upload) => {
      leased = await needs.createResumable(asset, { id, sizeBytes: upload.size, isPartial });
      return toUpload(needs, leased);
    },
    getUpload: async () => toUpload(needs, held()),
    declareUploadLength: async (_id: string, sizeBytes: number) => {
      leased = await needs.declareResumable(asset, { leased: held(), sizeBytes });
    },
    write: async (emptied: AsyncIterable<unknown>) => {
      for await (const chunk of emptied) void chunk;
      const row = await needs.appendBytes(asset, { leased: held(), body });
      leased = { ...held(), row };
      return row.bytes_received;
    },
    remove: () => needs.terminateResumable(held()),
    getExpiration: () => needs.uploadTtlSeconds * 1000,
  });
  return {
    store,
    lock: async () => {
      if (method === 'POST') return;
      leased = await needs.openResumable(asset, id);
      dropKnownLength(sentHeaders, leased);
    },
    unlock: async () => leased?.release(),
    expiresAt: () => held().row.expires_at,
    isPartial: () => held().row.concatenation === 'partial',
  };
}

/** The library refuses a length that is known; clients repeat it when they send the last chunk again. */
function dropKnownLength(headers: Headers, { row }: LeasedUpload): void {
  if (Number(headers.get('upload-length')) === row.size_bytes) headers.delete('upload-length');
}

function toUpload({ uploadTtlSeconds }: TusNeeds, { row }: LeasedUpload): Upload {
  return new Upload({
    id: row.id,
    offset: row.bytes_received,
    ...(row.size_bytes !== null && { size: row.size_bytes }),
    // Without it the library sends no Upload-Expires.
    creation_date: new Date(row.expires_at.getTime() - uploadTtlSeconds * 1000).toISOString(),
  });
}

const isTusError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'status_code' in error;

/** The library answers in plain text. */
function toTusFailure(status: number, text: string): ServiceError {
  const message = text.trim() || 'The request is not a valid tus request';
  if (status === 404 || status === 410) return notFound(message);
  if (status === 409) return conflict(message, OFFSET_MISMATCH);
  return status === 413 ? payloadTooLarge(message) : badRequest(message);
}

const OFFSET_MISMATCH: ErrorDetails = { reason: 'offset_mismatch' };
