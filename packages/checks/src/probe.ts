// HTTP client for checks: sends announced lengths and pauses as they are, and times what comes back.
import { type IncomingHttpHeaders, type IncomingMessage, request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { type PeerCertificate, TLSSocket } from 'node:tls';

export type ProbeRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `announcedBytes` may exceed the bytes of `parts`: the request then never ends by itself. */
  readonly body?: { readonly announcedBytes: number; readonly parts: readonly ProbePart[] };
  readonly timeoutMs: number;
  /** The response does not end by itself: its first bytes are enough. */
  readonly isEndless?: boolean;
  /** Ends the exchange as a failure without a code. */
  readonly signal?: AbortSignal;
};

/** A pause, then bytes. */
type ProbePart = { readonly afterMs: number; readonly bytes: Uint8Array };

export type ProbeReply = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** At most 1 MiB. */
  readonly body: Buffer;
  /** Time of each chunk after the first one. */
  readonly chunks: readonly { readonly atMs: number; readonly bytes: number }[];
  /** From the start of the request until the head of the response. */
  readonly headAfterMs: number;
  /** Undefined without TLS. */
  readonly certificate: PeerCertificate | undefined;
};

/** `phase`: up to TLS, or after it; `code`: of Node, such as `ENOTFOUND` or `CERT_HAS_EXPIRED`. */
export type ProbeFailure = {
  readonly failure: 'timeout' | 'error';
  readonly phase: 'connect' | 'response';
  readonly code: string | undefined;
};

export type ProbeResult = ProbeReply | ProbeFailure;

/** `path` is below the URL of the service. */
export type Send = (
  request: Omit<ProbeRequest, 'url' | 'timeoutMs'> & { readonly path: string; readonly timeoutMs?: number },
) => Promise<ProbeResult>;

const MAX_BODY_BYTES = 1024 * 1024;

/** Never throws. Does not follow redirects, and uses a connection of its own. */
export function sendProbe(probe: ProbeRequest): Promise<ProbeResult> {
  // Not Promise.withResolvers: Node 20, which runs the command line too, has none.
  let resolve!: (result: ProbeResult) => void;
  const promise = new Promise<ProbeResult>((settle) => {
    resolve = settle;
  });
  const { url, method, headers, body, timeoutMs, signal } = probe;
  const start = performance.now();
  let phase: ProbeFailure['phase'] = 'connect';
  const fail = (failure: ProbeFailure['failure'], code?: string) => resolve({ failure, phase, code });
  const request = (url.startsWith('https:') ? sendHttps : sendHttp)(url, {
    method,
    agent: false,
    ...(signal && { signal }),
    headers: {
      'accept-encoding': 'identity',
      ...headers,
      ...(body && { 'content-length': body.announcedBytes }),
    },
  });
  const timer = setTimeout(() => fail('timeout'), timeoutMs);
  request.once('socket', (socket) => {
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      phase = 'response';
    });
  });
  request.once('response', (response) => {
    const headAfterMs = performance.now() - start;
    readReply(response, probe.isEndless === true).then(
      (reply) => resolve({ ...reply, headAfterMs, certificate: certificateOf(response) }),
      (error: NodeJS.ErrnoException) => fail('error', error.code),
    );
  });
  // A response may still arrive after a failed write; an error without one ends the exchange.
  request.on('error', (error: NodeJS.ErrnoException) => fail('error', error.code));
  void sendParts(request, body?.parts).then(() => {
    if (isWhole(body)) request.end();
  });
  return promise.finally(() => {
    clearTimeout(timer);
    request.destroy();
  });
}

const certificateOf = ({ socket }: IncomingMessage): PeerCertificate | undefined =>
  socket instanceof TLSSocket ? socket.getPeerCertificate() : undefined;

type Body = NonNullable<ProbeRequest['body']>;

const isWhole = (body: Body | undefined): boolean =>
  body === undefined ||
  body.parts.reduce((total, { bytes }) => total + bytes.byteLength, 0) === body.announcedBytes;

async function sendParts(
  request: ReturnType<typeof sendHttp>,
  parts: readonly ProbePart[] = [],
): Promise<void> {
  for (const { afterMs, bytes } of parts) {
    if (afterMs > 0) await delay(afterMs);
    if (request.destroyed) return;
    request.write(bytes);
  }
  if (parts.length === 0) request.flushHeaders();
}

async function readReply(response: IncomingMessage, isEndless: boolean) {
  const chunks: { atMs: number; bytes: number }[] = [];
  const parts: Buffer[] = [];
  let first: number | undefined;
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    first ??= performance.now();
    chunks.push({ atMs: performance.now() - first, bytes: part.byteLength });
    parts.push(part);
    size += part.byteLength;
    if (isEndless || size > MAX_BODY_BYTES) break;
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(parts).subarray(0, MAX_BODY_BYTES),
    chunks,
  };
}
