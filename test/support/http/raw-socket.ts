// HTTP as raw bytes on a socket, for requests that no client library sends.
import { connect, type Socket } from 'node:net';

export type RawAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  readonly all: string;
};

const WAIT_MS = 20_000;

/**
 * Sends the bytes and reads until the server hangs up: a request that is understood has to say `Connection:
 * close`.
 */
export async function sendRaw(address: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const socket = await openSocket(address);
  socket.write(bytes);
  return readAnswer(socket);
}

/** A head and a body; `Host` and `Connection: close` go with it. Header lines are sent as they are given. */
export const request = (line: string, headers: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: mediary.test', 'Connection: close', ...headers, '', body].join('\r\n');

export async function openSocket(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', reject);
  });
  return socket;
}

/** All that comes until the end; a reset after the answer is an end too. */
export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  socket.setTimeout(WAIT_MS, () =>
    socket.destroy(new Error(`no end of the answer after ${WAIT_MS} ms: ${Buffer.concat(chunks)}`)),
  );
  try {
    for await (const chunk of socket) chunks.push(chunk as Buffer);
  } catch (error) {
    if (chunks.length === 0 || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
  return parse(Buffer.concat(chunks).toString('latin1'));
}

function parse(all: string): RawAnswer {
  const end = all.indexOf('\r\n\r\n');
  const [first = '', ...lines] = all.slice(0, Math.max(end, 0)).split('\r\n');
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const body = Buffer.from(all.slice(end + 4), 'latin1').toString();
  return {
    status: Number(first.split(' ')[1]),
    headers,
    body: headers.get('transfer-encoding') === 'chunked' ? unchunked(body) : body,
    all,
  };
}

const unchunked = (body: string): string =>
  body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/gi, '').replace(/\r\n$/, '');

/** A socket of a client that misbehaves: a reset is one of the ways to be answered. */
export async function openCarelessSocket(address: string): Promise<Socket> {
  const socket = await openSocket(address);
  socket.on('error', () => {});
  return socket;
}

export const CHUNKED = 'Transfer-Encoding: chunked';
export const toChunk = (bytes: string): string => `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`;
