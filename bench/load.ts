// A load generator with low overhead: plain sockets with one request at a time; checks the status of every
// response.
import { connect } from 'node:net';

/**
 * `next` returns the bytes of the n-th request; undefined ends the load. Responses need status 200 and
 * Content-Length.
 */
export type Load = {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly next: (n: number) => Buffer | undefined;
};
export type Measured = {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
};

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const EMPTY: Buffer = Buffer.alloc(0);

export async function run({ port, connections, seconds, next }: Load): Promise<Measured> {
  const times: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  let n = 0;
  await Promise.all(
    Array.from({ length: connections }, () =>
      runConnection(port, () => (performance.now() < end ? next(n++) : undefined), times),
    ),
  );
  const elapsed = (performance.now() - start) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { perSecond: times.length / elapsed, p50: at(0.5), p99: at(0.99), requests: times.length };
}

/** One connection: sends a request and waits for the complete response until there are no more requests. */
function runConnection(port: number, nextRequest: () => Buffer | undefined, times: number[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let head = EMPTY;
  /** Bytes of the body that have not arrived; undefined while the head is incomplete. */
  let missing: number | undefined;
  let sentAt = 0;
  const send = () => {
    const request = nextRequest();
    if (!request) return void socket.end();
    sentAt = performance.now();
    socket.write(request);
  };
  socket
    .on('connect', send)
    .on('close', () => resolve())
    .on('error', reject);
  socket.on('data', (chunk) => {
    if (missing === undefined) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const length = responseLengthOf(head);
      if (length === undefined) return;
      if (head.toString('latin1', 9, 12) !== '200') return reject(new Error(head.toString('utf8', 0, 600)));
      missing = length - head.length;
    } else missing -= chunk.length;
    if (missing > 0) return;
    times.push(performance.now() - sentAt);
    head = EMPTY;
    missing = undefined;
    send();
  });
  return promise;
}

function responseLengthOf(bytes: Buffer): number | undefined {
  const head = bytes.indexOf(END_OF_HEAD);
  if (head < 0) return undefined;
  const [, length] = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, head)) ?? [];
  if (length === undefined) throw new Error('A response has no Content-Length');
  return head + END_OF_HEAD.length + Number(length);
}

/** The bytes of a keep-alive request. */
export function request(
  methodAndPath: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = '',
): Buffer {
  const lines = Object.entries({
    host: '127.0.0.1',
    ...headers,
    ...(body.length > 0 && { 'content-length': String(Buffer.byteLength(body)) }),
  });
  return Buffer.concat([
    Buffer.from(
      `${methodAndPath} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    ),
    Buffer.from(body),
  ]);
}
