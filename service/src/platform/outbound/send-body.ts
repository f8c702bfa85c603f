// Sends requests whose bodies are streams, to other services: limits the time without progress.
import { type ClientRequest, type IncomingMessage, request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export type BodyRequest = {
  readonly method: 'HEAD' | 'PATCH' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly the bytes of the body. Undefined: the request has none. */
  readonly length: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
};

/** `failure`: there is no response. */
export type BodyResponse =
  | { readonly status: number; readonly headers: Headers }
  | { readonly failure: 'timeout' | 'unreachable'; readonly cause: unknown };

/** Without a byte in either direction. A receiver may work on the last bytes before it responds. */
const IDLE_MS = 60_000;

/**
 * Throws the reason of the signal, and errors of `bytes`; neither for network errors nor for error statuses.
 * Does not follow redirects.
 */
export async function sendBody(
  { method, url, headers, length, bytes, signal }: BodyRequest,
  idleMs: number = IDLE_MS,
): Promise<BodyResponse> {
  signal.throwIfAborted();
  const target = new URL(url);
  const request = (target.protocol === 'https:' ? sendHttps : sendHttp)(target, {
    method,
    headers: { ...headers, ...(length !== undefined && { 'content-length': String(length) }) },
    // A pooled connection may be closed while the body is on its way.
    agent: false,
    timeout: idleMs,
    signal,
  });
  const idle = new Error(`no byte was sent or received for ${idleMs} ms`);
  request.once('timeout', () => request.destroy(idle));
  const source = openSource(bytes);
  try {
    const response = await exchange(request, source.body);
    return { status: response.statusCode ?? 0, headers: toHeaders(response) };
  } catch (cause) {
    signal.throwIfAborted();
    const failed = source.failure();
    if (failed) throw failed.error;
    return { failure: cause === idle ? 'timeout' : 'unreachable', cause };
  }
}

/** Resolves with the head of the response, which may come before the whole body is sent. */
async function exchange(request: ClientRequest, body: Readable): Promise<IncomingMessage> {
  const responding = waitForHead(request);
  // Stays after the response: a receiver that refuses a body closes the connection.
  request.on('error', () => undefined);
  // Its error destroys the request, which then has no response.
  pipeline(body, request).catch(() => undefined);
  const response = await responding;
  response.on('error', () => undefined);
  if (request.writableFinished) response.resume();
  else request.destroy();
  return response;
}

function waitForHead(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
    // Without a response and without an error, as after a refused upgrade.
    request.once('close', () => reject(new Error('the connection was closed without a response')));
  });
}

/** Errors of the source are not errors of the connection, which the stream throws into its generator. */
function openSource(bytes: AsyncIterable<Uint8Array>) {
  const iterator = bytes[Symbol.asyncIterator]();
  let failed: { readonly error: unknown } | undefined;
  const next = () =>
    iterator.next().catch((error: unknown) => {
      failed = { error };
      throw error;
    });
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (let item = await next(); !item.done; item = await next()) yield item.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { body: Readable.from(read()), failure: () => failed };
}

function toHeaders({ headers }: IncomingMessage): Headers {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) copied.set(name, Array.isArray(value) ? value.join(', ') : value);
  return copied;
}
