// One HTTP exchange with the times at which the response arrived; it follows no redirects.
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type PeerCertificate, TLSSocket } from 'node:tls';

type Request = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: AsyncIterable<Uint8Array>;
  /** Sends the head and no body, whatever length it announces. */
  readonly isHeadOnly?: boolean;
  /** For streams that do not end. */
  readonly isFirstChunkEnough?: boolean;
  readonly timeoutMs?: number;
};

export type Exchange = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** From the start of the request until the head of the response. */
  readonly headAtMs: number;
  /** Relative to the first chunk. */
  readonly chunks: readonly { readonly atMs: number; readonly bytes: number }[];
  readonly certificate: PeerCertificate | undefined;
};

const TIMEOUT_MS = 15_000;
/** The end of a response is not needed once this much has arrived. */
const MAX_BODY_BYTES = 4 * 1024 ** 2;

export type Send = (url: string, request?: Request) => Promise<Exchange>;

export const createSend =
  (signal: AbortSignal): Send =>
  (url, request = {}) =>
    exchange(url, request, signal);

async function exchange(url: string, request: Request, signal: AbortSignal): Promise<Exchange> {
  const startedAt = performance.now();
  const limit = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs ?? TIMEOUT_MS)]);
  const open = url.startsWith('https:') ? requestHttps : requestHttp;
  const sent = open(url, {
    method: request.method ?? 'GET',
    headers: { ...request.headers },
    agent: false,
    signal: limit,
  });
  try {
    const response = await sendBody(sent, request);
    const headAtMs = performance.now() - startedAt;
    const maxBytes = request.isFirstChunkEnough ? 0 : MAX_BODY_BYTES;
    return { ...(await readResponse(response, maxBytes)), headAtMs, certificate: getCertificate(response) };
  } catch (error) {
    if (limit.aborted && !signal.aborted) throw new Error(`no response in time`, { cause: error });
    throw error;
  } finally {
    sent.destroy();
  }
}

/** A server that refuses a body answers before it has read it, and may close the connection. */
function sendBody(sent: ClientRequest, { body, isHeadOnly }: Request): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
    if (isHeadOnly) sent.flushHeaders();
    else if (body) pipeline(Readable.from(body), sent).catch(reject);
    else sent.end();
  });
}

async function readResponse(response: IncomingMessage, maxBytes: number) {
  const parts: { readonly at: number; readonly bytes: Buffer }[] = [];
  let size = 0;
  for await (const bytes of response as AsyncIterable<Buffer>) {
    parts.push({ at: performance.now(), bytes });
    size += bytes.length;
    if (size > maxBytes) break;
  }
  const [first] = parts;
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : value,
      ]),
    ),
    body: Buffer.concat(parts.map(({ bytes }) => bytes)),
    chunks: parts.map(({ at, bytes }) => ({ atMs: at - (first?.at ?? at), bytes: bytes.length })),
  };
}

const getCertificate = ({ socket }: IncomingMessage): PeerCertificate | undefined =>
  socket instanceof TLSSocket ? socket.getPeerCertificate() : undefined;

/** `data` of the envelope; undefined where the response is something else. */
export function readData<T>({ body }: Exchange): T | undefined {
  const { data } = readJson<{ readonly data?: T }>(body) ?? {};
  return data;
}

export function readJson<T>(body: Buffer): T | undefined {
  try {
    return JSON.parse(body.toString('utf8')) as T;
  } catch {
    return undefined;
  }
}
