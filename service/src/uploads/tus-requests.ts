// Handles tus 1.0.0 requests: @tus/server implements the protocol, our operations store the bytes.
import { randomUUID } from 'node:crypto';
import { DataStore, Server, Upload } from '@tus/server';
import type { Asset } from '../assets/asset.ts';
import type { Bound } from '../platform/bind.ts';
import {
  badRequest,
  conflict,
  type ErrorDetails,
  notFound,
  payloadTooLarge,
  type ServiceError,
} from '../platform/errors.ts';
import type { UploadBody } from './body-reader.ts';
import type { appendBytes } from './resumable-bytes.ts';
import type {
  createResumable,
  declareResumable,
  openResumable,
  terminateResumable,
} from './resumable-uploads.ts';
import type { LeasedUpload } from './leased-uploads.ts';

type TusNeeds = {
  readonly createResumable: Bound<typeof createResumable>;
  readonly openResumable: Bound<typeof openResumable>;
  readonly declareResumable: Bound<typeof declareResumable>;
  readonly appendBytes: Bound<typeof appendBytes>;
  readonly terminateResumable: Bound<typeof terminateResumable>;
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

const EXTENSIONS = ['creation', 'creation-with-upload', 'creation-defer-length', 'expiration', 'termination'];

/** Throws a ServiceError for every status from 400. */
export async function answerTus(needs: TusNeeds, request: TusRequest): Promise<TusResponse> {
  const id = request.uploadId ?? randomUUID();
  const failures: unknown[] = [];
  const { method } = request;
  // The library gets no body: our store reads it from the socket, without the copies of web streams.
  const webRequest = new Request('http://uploads/', { method, headers: headersOf(request) });
  const exchange = createExchange(needs, request, { id, sentHeaders: webRequest.headers });
  const server = new Server({
    path: '/',
    datastore: exchange.store,
    locker: { newLock: () => exchange },
    getFileIdFromRequest: () => id,
    namingFunction: () => id,
    // Relative, so that it is right behind every proxy.
    generateUrl: () => `tus/${id}?ticket=${request.ticket}`,
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
  return { status: response.status, headers };
}

const EXPIRES = 'upload-expires';

const maxSizeOf = ({ maxUploadBytes }: TusNeeds, { announced_size_bytes: announced }: Asset): number =>
  announced ?? maxUploadBytes;

function headersOf({ headers }: TusRequest): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && COPIED.test(name)) copied.set(name, String(value));
  return copied;
}

const COPIED = /^(?:tus-|upload-|content-(?:type|length)$)/;

/** The store and the lock of one request. `sentHeaders` are those that the library reads. */
function createExchange(
  needs: TusNeeds,
  { method, asset, body }: TusRequest,
  { id, sentHeaders }: { readonly id: string; readonly sentHeaders: Headers },
) {
  let leased: LeasedUpload | undefined;
  const held = (): LeasedUpload => {
    if (!leased) throw notFound('No such upload. Create another one.');
    return leased;
  };
  const store = Object.assign(new DataStore(), {
    extensions: EXTENSIONS,
    create: async (upload: Upload) => {
      leased = await needs.createResumable(asset, { id, sizeBytes: upload.size });
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
