// Sends a file in parts straight to an S3 store. The service signs each part when it is about to be sent.
import type { CreatedMultipart, MultipartParts, SignedPart } from '../api/multipart.ts';
import type { MultipartUploadTarget } from '../api/uploads.ts';
import { isTransient, withRetries } from '../backoff.ts';
import { MediaryError } from '../errors.ts';
import { assertSuccess, readData } from '../response.ts';
import type { Transfer } from './transfer.ts';

const CONCURRENT_PARTS = 4;

type FilePart = { readonly number: number; readonly blob: Blob };
type Ask = <T>(methodAndPath: string, body?: object) => Promise<T>;

export async function sendByMultipart(transfer: Transfer, target: MultipartUploadTarget): Promise<void> {
  const ask = createAsk(transfer, target);
  const { id, partSize, stored } = await openUpload(transfer, ask);
  const progress = trackParts(transfer);
  const missing: FilePart[] = [];
  for (let number = 1; (number - 1) * partSize < transfer.file.size; number += 1) {
    const blob = transfer.file.slice((number - 1) * partSize, number * partSize);
    if (stored.has(number)) progress(number, blob.size);
    else missing.push({ number, blob });
  }
  await sendAll(missing, transfer, async (part, signal) => {
    const signed = await ask<SignedPart>(`GET /${id}/${part.number}?size_bytes=${part.blob.size}`);
    const onSent = (bytes: number): void => progress(part.number, bytes);
    const { method, url, headers } = signed;
    assertSuccess(await transfer.sendBytes({ method, url, headers, body: part.blob, signal, onSent }));
  });
  await ask(`POST /${id}/complete`, {});
}

/** Requests to the service are authorized by the ticket in the query of the target's URL. */
function createAsk({ sendBytes, maxRetries, signal }: Transfer, target: MultipartUploadTarget): Ask {
  const [base, ticket = ''] = target.url.split('?');
  return (methodAndPath, body) =>
    withRetries({ maxRetries, signal }, async () => {
      const [method = '', path = ''] = methodAndPath.split(' ');
      const url = `${base}${path}${path.includes('?') ? '&' : '?'}${ticket}`;
      const headers = { ...target.headers, ...(body && { 'content-type': 'application/json' }) };
      const json = body && new Blob([JSON.stringify(body)]);
      return readData(await sendBytes({ method, url, headers, body: json, signal }));
    });
}

type OpenUpload = { readonly id: string; readonly partSize: number; readonly stored: ReadonlySet<number> };

/** The reference of an upload is `<id>:<part size>`. */
async function openUpload({ file, resumeFrom, onResumable }: Transfer, ask: Ask): Promise<OpenUpload> {
  const [id, size] = resumeFrom?.split(':') ?? [];
  if (id !== undefined && size !== undefined) {
    const stored = await listStoredParts(ask, id);
    if (stored) return { id, partSize: Number(size), stored };
  }
  const created = await ask<CreatedMultipart>('POST ', { size_bytes: file.size });
  await onResumable(`${created.uploadId}:${created.part_size_bytes}`);
  return { id: created.uploadId, partSize: created.part_size_bytes, stored: new Set() };
}

async function listStoredParts(ask: Ask, id: string): Promise<ReadonlySet<number> | undefined> {
  try {
    const { parts } = await ask<MultipartParts>(`GET /${id}`);
    return new Set(parts.map(({ PartNumber }) => PartNumber));
  } catch (error) {
    if (error instanceof MediaryError && error.status === 404) return undefined;
    throw error;
  }
}

/** The sum over all parts; a part that is sent again counts from its start. */
function trackParts({ onSent }: Transfer): (part: number, bytes: number) => void {
  const sent = new Map<number, number>();
  let total = 0;
  return (part, bytes) => {
    total += bytes - (sent.get(part) ?? 0);
    sent.set(part, bytes);
    onSent(total);
  };
}

/** A few parts at a time; the first that fails for good ends the others. */
async function sendAll(
  parts: readonly FilePart[],
  { maxRetries, signal: outer }: Transfer,
  send: (part: FilePart, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(outer?.reason);
  outer?.addEventListener('abort', stop, { once: true });
  if (outer?.aborted) stop();
  const { signal } = controller;
  const queue = parts.values();
  const work = async (): Promise<void> => {
    for (const part of queue)
      await withRetries({ maxRetries, signal, isRetryable }, () => send(part, signal));
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENT_PARTS }, work));
  } finally {
    controller.abort();
    outer?.removeEventListener('abort', stop);
  }
}

/** 403: the signed URL has expired; the next attempt asks for another one. */
const isRetryable = (error: unknown): boolean =>
  isTransient(error) || (error instanceof MediaryError && (error.status === 403 || error.status === 408));
