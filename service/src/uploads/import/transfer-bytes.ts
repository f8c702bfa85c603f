// Sends a stored file to a hosted provider: by tus, which continues after a failure, or in one request.
import { randomUUID } from 'node:crypto';
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import type { ProviderName } from '../../assets/asset.ts';
import { parseRetryAfter } from '../../platform/outbound/http-client.ts';
import type { BodyRequest, BodyResponse } from '../../platform/outbound/send-body.ts';
import { toFailureCode, toRequestFailure } from '../../providers/failure-codes.ts';
import { ProviderError } from '../../providers/provider.ts';
import type { ObjectKey } from '../../storage/object-key.ts';
import type { ByteRange } from '../../storage/object-store.ts';
import type { UploadsContext } from '../context.ts';
import {
  buildChunkHeaders,
  buildCreationHeaders,
  buildForm,
  buildOffsetHeaders,
  parseCreation,
  parseOffset,
  planChunk,
  toOpenUpload,
  type TusTarget,
  type TusUpload,
} from './transfer-requests.ts';

export type StoredFile = {
  readonly provider: ProviderName;
  readonly key: ObjectKey;
  readonly sizeBytes: number;
  readonly filename: string;
  readonly mimeType: string;
};

export type Transfer = {
  readonly file: StoredFile;
  readonly signal: AbortSignal;
  /** Rejects if the signal aborts. */
  readonly wait: (ms: number) => Promise<unknown>;
  /** Called while bytes are sent, with their number. */
  readonly onSent: (bytes: number) => Promise<void>;
  /** Whether the transfer gives way to another owner at the end of a chunk. */
  readonly isDue: () => boolean;
};

/** Opens the tus upload of a target. Throws ProviderError. */
export async function openTusUpload(
  ctx: UploadsContext,
  { file, signal }: Transfer,
  target: TusTarget,
): Promise<TusUpload> {
  const open = toOpenUpload(target);
  if (open) return open;
  const headers = buildCreationHeaders(target, file.sizeBytes);
  const request = { method: 'POST', url: target.url, headers, length: 0, bytes: NO_BYTES, signal } as const;
  const response = await send(ctx, file.provider, request);
  const created = parseCreation(target, response.get('location'));
  if (!created) throw new ProviderError('provider_error', { providerCode: 'unreadable upload URL' });
  return created;
}

const NO_BYTES: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => EMPTY };
const EMPTY = { next: () => Promise.resolve({ done: true, value: undefined } as const) };

/** Consecutive failures after which the job queue repeats the transfer later. */
const MAX_FAILURES = 4;
const FIRST_DELAY_MS = 250;
/** A longer `Retry-After`, or an open circuit, is left to the job queue. */
const MAX_WAIT_S = 10;

/** `yielded`: a later call sends the rest. */
export type TusOutcome = 'sent' | 'yielded';

/** Sends what the upload does not have yet. Throws ProviderError. */
export async function sendByTus(
  ctx: UploadsContext,
  transfer: Transfer,
  upload: TusUpload,
): Promise<TusOutcome> {
  const { file } = transfer;
  let offset: number | undefined;
  let highest = 0;
  let failures = 0;
  for (;;) {
    try {
      offset ??= await findOffset(ctx, transfer, upload);
      if (offset === file.sizeBytes) return 'sent';
      if (offset > highest) failures = 0;
      highest = Math.max(highest, offset);
      offset = await sendChunk(ctx, transfer, { upload, offset });
      if (offset < file.sizeBytes && transfer.isDue()) return 'yielded';
    } catch (error) {
      failures += 1;
      const pauseMs = failures < MAX_FAILURES ? findPause(error, failures) : undefined;
      if (pauseMs === undefined) throw error;
      offset = undefined;
      await transfer.wait(pauseMs);
    }
  }
}

/** Undefined if the transfer should not go on now. */
function findPause(error: unknown, failures: number): number | undefined {
  if (!(error instanceof ProviderError) || !error.failure.retryable) return undefined;
  const retryAfter = error.retryAfterSeconds ?? 0;
  if (error.failure.code === 'provider_quota' || retryAfter > MAX_WAIT_S) return undefined;
  return Math.max(FIRST_DELAY_MS * 2 ** failures, retryAfter * 1000);
}

async function findOffset(
  ctx: UploadsContext,
  { file, signal }: Transfer,
  upload: TusUpload,
): Promise<number> {
  const headers = buildOffsetHeaders(upload);
  const request = {
    method: 'HEAD',
    url: upload.url,
    headers,
    length: undefined,
    bytes: NO_BYTES,
    signal,
  } as const;
  return readOffset(await send(ctx, file.provider, request), file);
}

type NextChunk = { readonly upload: TusUpload; readonly offset: number };

/** Returns the new offset. */
async function sendChunk(
  ctx: UploadsContext,
  transfer: Transfer,
  { upload, offset }: NextChunk,
): Promise<number> {
  const { file, signal } = transfer;
  const chunk = planChunk(upload, offset, file.sizeBytes);
  const response = await send(ctx, file.provider, {
    method: 'PATCH',
    url: upload.url,
    headers: buildChunkHeaders(upload, chunk),
    length: chunk.end - chunk.start + 1,
    bytes: readFile(ctx, transfer, chunk),
    signal,
  });
  const stored = readOffset(response, file);
  // A repetition without a pause would not end.
  if (stored <= offset) throw new ProviderError('provider_error', { providerCode: 'no progress' });
  return stored;
}

function readOffset(headers: Headers, { sizeBytes }: StoredFile): number {
  const offset = parseOffset(headers.get('upload-offset'), sizeBytes);
  if (offset === undefined)
    throw new ProviderError('provider_error', { providerCode: 'unreadable Upload-Offset' });
  return offset;
}

type WholeTarget = Exclude<UploadTarget, TusTarget>;

/** Sends the whole file in one request, which cannot be continued. Throws ProviderError. */
export async function sendWhole(ctx: UploadsContext, transfer: Transfer, target: WholeTarget): Promise<void> {
  const { file, signal } = transfer;
  if (target.protocol === 's3-multipart') throw new Error('a hosted provider takes no s3-multipart upload');
  const { method, url } = target;
  const whole = { start: 0, end: file.sizeBytes - 1 };
  const { head, tail, headers } =
    target.protocol === 'form'
      ? buildForm(target, file, randomUUID())
      : { head: NOTHING, tail: NOTHING, headers: target.headers };
  await send(ctx, file.provider, {
    method,
    url,
    headers,
    length: head.length + file.sizeBytes + tail.length,
    bytes: join(head, readFile(ctx, transfer, whole), tail),
    signal,
  });
}

const NOTHING = Buffer.alloc(0);

async function* join(head: Buffer, bytes: AsyncIterable<Uint8Array>, tail: Buffer) {
  if (head.length > 0) yield head;
  yield* bytes;
  if (tail.length > 0) yield tail;
}

async function* readFile(
  { store }: UploadsContext,
  { file, onSent }: Transfer,
  range: ByteRange,
): AsyncGenerator<Uint8Array> {
  let sent = range.start;
  for await (const chunk of store.stream(file.key, range) as AsyncIterable<Uint8Array>) {
    yield chunk;
    sent += chunk.length;
    await onSent(sent);
  }
}

/** The headers of a successful response. */
const send = (ctx: UploadsContext, provider: ProviderName, request: BodyRequest): Promise<Headers> =>
  ctx.providers.call(provider, async () => {
    const response = await ctx.intake.outbound.sendBody(request);
    if ('failure' in response) throw toRequestFailure(response);
    if (response.status < 200 || response.status >= 300) throw toStatusFailure(response, ctx.clocks.now());
    return response.headers;
  });

type AnsweredRequest = Extract<BodyResponse, { readonly status: number }>;

function toStatusFailure({ status, headers }: AnsweredRequest, now: Date): ProviderError {
  // The provider still holds an earlier request of this upload, or has other bytes than its response said.
  const code = status === 409 || status === 423 ? 'provider_error' : toFailureCode(status);
  return new ProviderError(code, {
    providerCode: `HTTP ${status}`,
    retryAfterSeconds: parseRetryAfter(headers, now),
  });
}
