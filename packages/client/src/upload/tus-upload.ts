// Sends a file with tus-js-client, which is loaded only when a target speaks tus. Requests, retries and
// storage of URLs are ours.
import type { HttpRequest, HttpResponse, UploadOptions } from 'tus-js-client';
import type { TusUploadTarget } from '../api/uploads.ts';
import { isTransient, retryDelayMs, sleep } from '../backoff.ts';
import { ConnectionError, MediaryError } from '../errors.ts';
import { type ReceivedResponse, toError } from '../response.ts';
import type { Transfer } from './transfer.ts';

/** Bytes that the server confirmed. */
type Confirmed = { offset: number };

export async function sendByTus(transfer: Transfer, target: TusUploadTarget): Promise<void> {
  const { Upload } = await import('tus-js-client');
  const { file, maxRetries, signal, resumeFrom } = transfer;
  const confirmed: Confirmed = { offset: 0 };
  let uploadUrl = resumeFrom ?? (target.method === 'PATCH' ? target.url : undefined);
  for (let attempt = 0; ; ) {
    // Listeners of a signal that has aborted before are not called.
    signal?.throwIfAborted();
    const before = confirmed.offset;
    let stop = (): void => {};
    try {
      await new Promise<void>((resolve, reject) => {
        const upload = new Upload(file as File, {
          ...toOptions(transfer, target, confirmed),
          ...(uploadUrl !== undefined && { uploadUrl }),
          onUploadUrlAvailable: () => {
            uploadUrl = upload.url ?? undefined;
            if (uploadUrl !== undefined) transfer.onResumable(uploadUrl).catch(reject);
          },
          onSuccess: () => resolve(),
          onError: (error) => reject(toMediaryError(error)),
        });
        stop = () => {
          reject(signal?.reason);
          void upload.abort();
        };
        signal?.addEventListener('abort', stop, { once: true });
        upload.start();
      });
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (confirmed.offset > before) attempt = 0;
      if (attempt >= maxRetries || !isRetryable(error)) throw error;
      await sleep(retryDelayMs(attempt, error), signal);
      attempt += 1;
    } finally {
      // A signal that outlives the upload would keep its file.
      signal?.removeEventListener('abort', stop);
    }
  }
}

/**
 * 409: a request that was interrupted still stored bytes; the next attempt asks for the offset again. Servers
 * of video providers give no reason.
 */
const isRetryable = (error: unknown): boolean =>
  isTransient(error) ||
  (error instanceof MediaryError &&
    (error.status === 423 ||
      (error.status === 409 && error.reason === undefined) ||
      error.reason === 'offset_mismatch' ||
      error.reason === 'body_cut_short'));

function toOptions(transfer: Transfer, target: TusUploadTarget, confirmed: Confirmed): UploadOptions {
  const { file, onSent } = transfer;
  return {
    ...(target.method === 'POST' && { endpoint: target.url }),
    headers: target.headers,
    metadata: target.fields ?? {},
    ...(target.chunk_size_bytes !== undefined && { chunkSize: target.chunk_size_bytes }),
    retryDelays: null,
    storeFingerprintForResuming: false,
    fingerprint: async () => '',
    fileReader: {
      openFile: async () => ({
        size: file.size,
        slice: async (start, end) => {
          const value = file.slice(start, end);
          return { value, done: end >= file.size };
        },
        close: () => {},
      }),
    },
    httpStack: {
      createRequest: (method, url) => createRequest({ transfer, confirmed, method, url }),
      getName: () => 'mediary',
    },
    onProgress: (sent) => onSent(sent),
  };
}

type RequestParts = {
  readonly transfer: Transfer;
  readonly confirmed: Confirmed;
  readonly method: string;
  readonly url: string;
};

function createRequest({ transfer, confirmed, method, url }: RequestParts): HttpRequest {
  const headers: Record<string, string> = {};
  const controller = new AbortController();
  const stop = (): void => controller.abort(transfer.signal?.reason);
  let onSent: ((bytes: number) => void) | undefined;
  return {
    getMethod: () => method,
    getURL: () => url,
    setHeader: (name, value) => {
      headers[name] = value;
    },
    getHeader: (name) => headers[name],
    setProgressHandler: (handler) => {
      onSent = handler;
    },
    send: async (body: Blob | null) => {
      transfer.signal?.addEventListener('abort', stop, { once: true });
      const request = { method, url, headers, body: body ?? undefined, signal: controller.signal, onSent };
      const response = await transfer.sendBytes(request).finally(() => {
        transfer.signal?.removeEventListener('abort', stop);
      });
      // tus-js-client starts again at the first byte when it sees another error than 423 here.
      if (method === 'HEAD' && (response.status >= 500 || response.status === 429)) throw toError(response);
      confirmed.offset = Math.max(confirmed.offset, Number(response.header('upload-offset') ?? 0));
      return toHttpResponse(response);
    },
    abort: async () => controller.abort(),
    getUnderlyingObject: () => undefined,
  };
}

const toHttpResponse = (response: ReceivedResponse): HttpResponse => ({
  getStatus: () => response.status,
  getHeader: (name) => response.header(name) ?? undefined,
  getBody: () => response.text,
  getUnderlyingObject: () => response,
});

/** tus-js-client wraps the errors of requests and responses. */
function toMediaryError(error: Error): unknown {
  const { originalResponse, causingError } = error as {
    readonly originalResponse?: HttpResponse | null;
    readonly causingError?: unknown;
  };
  if (originalResponse) return toError(originalResponse.getUnderlyingObject() as ReceivedResponse);
  return causingError ?? new ConnectionError(error.message, error);
}
