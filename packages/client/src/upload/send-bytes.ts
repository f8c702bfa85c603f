// Sends one request with a body of bytes and reports how many are sent: by XMLHttpRequest where it exists,
// because `fetch` of browsers reports no progress, else by `fetch`.
import { ConnectionError, MediaryError, TimeoutError } from '../errors.ts';
import { type ReceivedResponse, receive } from '../response.ts';

type BytesRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Blob | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of the body that left this process; a proxy may hold them. */
  readonly onSent?: ((bytes: number) => void) | undefined;
};

export type SendBytes = (request: BytesRequest) => Promise<ReceivedResponse>;

/** A connection that takes no bytes for so long is given up. */
const STALL_MS = 60_000;
/** A server that has all bytes may need so long to store them. */
const RESPONSE_MS = 300_000;
/** Of a request whose progress cannot be seen: it gets the time that a slow connection needs. */
const SLOWEST_BYTES_PER_MS = 10;
const CHUNK_BYTES = 256 * 1024;

/** The members of XMLHttpRequest in use. It is not declared outside of browsers. */
type Xhr = {
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: unknown): void;
  abort(): void;
  readonly status: number;
  readonly responseText: string;
  readonly upload: {
    onprogress: ((event: { readonly loaded: number }) => void) | null;
    onload: (() => void) | null;
  };
  onload: (() => void) | null;
  onerror: (() => void) | null;
};
type Globals = {
  readonly XMLHttpRequest?: new () => Xhr;
  readonly process?: { readonly release?: { readonly name?: string } };
};
const globals = globalThis as unknown as Globals;

/** `customFetch`: sends everything, and reports progress at the end of a request only. */
export function createByteSender(customFetch: typeof fetch | undefined): SendBytes {
  const { XMLHttpRequest, process } = globals;
  if (customFetch) return (request) => sendByFetch(customFetch, request);
  if (XMLHttpRequest) return (request) => sendByXhr(new XMLHttpRequest(), request);
  const isNode = process?.release?.name === 'node';
  return (request) => sendByFetch(globalThis.fetch, isNode ? toStreamed(request) : request);
}

type Watch = {
  readonly signal: AbortSignal;
  readonly beat: (ms: number, problem?: string) => void;
  readonly stop: () => void;
};

/** Aborts when the signal of the caller does, or when `beat` was not called for its time. */
function watchStalls(outer: AbortSignal | undefined): Watch {
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer?.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    outer?.removeEventListener('abort', abort);
  };
  const beat = (ms: number, problem = 'made no progress for'): void => {
    clearTimeout(timer);
    const late = new TimeoutError(`The upload ${problem} ${Math.round(ms / 1000)} s.`);
    timer = setTimeout(() => controller.abort(late), ms);
  };
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, beat, stop };
}

const FAILED = 'The connection failed during the upload.';

async function sendByFetch(fetchBytes: typeof fetch, request: BytesRequest | StreamedRequest) {
  const { method, url, headers, onSent } = request;
  const size = 'open' in request ? request.size : (request.body?.size ?? 0);
  const watch = watchStalls(request.signal);
  if ('open' in request) watch.beat(RESPONSE_MS);
  else watch.beat(RESPONSE_MS + size / SLOWEST_BYTES_PER_MS, 'did not end within');
  let unreadable: MediaryError | undefined;
  const body =
    'open' in request
      ? request.open(
          (sent) => watch.beat(sent < size ? STALL_MS : RESPONSE_MS),
          (error) => {
            unreadable = error;
          },
        )
      : request.body;
  try {
    const init = {
      method,
      headers,
      signal: watch.signal,
      ...(body && { body }),
      ...('open' in request && { duplex: 'half' }),
    };
    const response = await receive(await fetchBytes(url, init as RequestInit));
    onSent?.(size);
    return response;
  } catch (error) {
    if (watch.signal.aborted) throw watch.signal.reason;
    throw unreadable ?? new ConnectionError(FAILED, error);
  } finally {
    watch.stop();
  }
}

type StreamedRequest = Omit<BytesRequest, 'body'> & {
  readonly size: number;
  readonly open: (
    onSent: (bytes: number) => void,
    onUnreadable: (error: MediaryError) => void,
  ) => ReadableStream<Uint8Array>;
};

/** Node sends a stream with the length that the headers announce, and so shows the progress. */
function toStreamed(request: BytesRequest): BytesRequest | StreamedRequest {
  const { body, onSent } = request;
  if (body === undefined || body.size === 0) return request;
  return {
    ...request,
    headers: { ...request.headers, 'content-length': String(body.size) },
    size: body.size,
    open: (onChunk, onUnreadable) => {
      const onRead = (sent: number): void => {
        onChunk(sent);
        onSent?.(sent);
      };
      return readInChunks(body, onRead, onUnreadable);
    },
  };
}

/** Streams of blobs in memory have chunks of any size, which would make the progress jump. */
function readInChunks(
  blob: Blob,
  onRead: (bytes: number) => void,
  onUnreadable: (error: MediaryError) => void,
): ReadableStream<Uint8Array> {
  let offset = 0;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const chunk = await readBytes(blob.slice(offset, offset + CHUNK_BYTES)).catch((error: MediaryError) => {
      onUnreadable(error);
      throw error;
    });
    offset += chunk.byteLength;
    controller.enqueue(chunk);
    onRead(offset);
    if (offset >= blob.size) controller.close();
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

/** A file that was changed or deleted meanwhile cannot be read: another attempt would not help. */
async function readBytes(blob: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (error) {
    throw new MediaryError('The file cannot be read. It may have been changed or deleted.', {
      errorCode: 'UPLOAD_FAILED',
      cause: error,
    });
  }
}

function sendByXhr(
  xhr: Xhr,
  { method, url, headers, body, signal, onSent }: BytesRequest,
): Promise<ReceivedResponse> {
  const watch = watchStalls(signal);
  const sending = new Promise<ReceivedResponse>((resolve, reject) => {
    // Listeners of a signal that has aborted before are not called.
    watch.signal.throwIfAborted();
    watch.signal.addEventListener('abort', () => {
      xhr.abort();
      reject(watch.signal.reason);
    });
    xhr.open(method, url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded }) => {
      watch.beat(STALL_MS);
      onSent?.(loaded);
    };
    xhr.upload.onload = () => watch.beat(RESPONSE_MS);
    xhr.onload = () =>
      resolve({ status: xhr.status, header: (name) => xhr.getResponseHeader(name), text: xhr.responseText });
    xhr.onerror = () => reject(new ConnectionError(FAILED, undefined));
    watch.beat(body === undefined ? RESPONSE_MS : STALL_MS);
    xhr.send(body ?? null);
  });
  return sending.finally(watch.stop);
}
