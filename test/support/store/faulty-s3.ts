// A proxy in front of an S3 server that fails as networks and stores do.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * `busy`: 503 SlowDown; `silent`: no response; `cut`, `stalled`: the response ends or stops in the middle of
 * its body; `corrupt`: a byte of the request changes on its way; `lost`: the response does not arrive.
 */
type S3Fault = 'busy' | 'silent' | 'cut' | 'stalled' | 'corrupt' | 'lost';

export type S3Request = { readonly method: string; readonly path: string };
type Rule = { readonly fault: S3Fault; readonly matches: (request: S3Request) => boolean; remaining: number };

export type FaultyS3 = {
  readonly url: string;
  /** The requests since the last `heal`. */
  readonly requests: readonly S3Request[];
  /** The next `times` requests that match fail; requests without a fault are passed on. */
  fail(fault: S3Fault, matches?: (request: S3Request) => boolean, times?: number): void;
  heal(): void;
  stop(): Promise<void>;
};

export const isPut = ({ method }: S3Request): boolean => method === 'PUT';
export const isGet = ({ method }: S3Request): boolean => method === 'GET';
export const isPart = ({ method, path }: S3Request): boolean =>
  method === 'PUT' && path.includes('uploadId=');
export const isComplete = ({ method, path }: S3Request): boolean =>
  method === 'POST' && path.includes('uploadId=');

export async function startFaultyS3(endpoint: string): Promise<FaultyS3> {
  const requests: S3Request[] = [];
  let rules: Rule[] = [];
  const faultFor = (request: S3Request): S3Fault | undefined => {
    const rule = rules.find(({ matches, remaining }) => remaining > 0 && matches(request));
    if (rule) rule.remaining -= 1;
    return rule?.fault;
  };
  const server = createServer((request, response) => {
    const seen = { method: request.method ?? '', path: request.url ?? '' };
    requests.push(seen);
    const fault = faultFor(seen);
    if (fault === 'silent') return;
    relay({ endpoint, fault }, request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail: (fault, matches = () => true, times = Number.POSITIVE_INFINITY) =>
      rules.push({ fault, matches, remaining: times }),
    heal: () => {
      rules = [];
      requests.length = 0;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const BUSY =
  '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>';

/** The Host header is passed on too, because it is signed. */
async function relay(
  { endpoint, fault }: { endpoint: string; fault: S3Fault | undefined },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await buffer(request);
  if (fault === 'busy') return void response.writeHead(503, { 'content-type': 'application/xml' }).end(BUSY);
  if (fault === 'corrupt' && body.length > 0) body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
  const { expect: _, connection: __, ...headers } = request.headers;
  const forwarded = send(`${endpoint}${request.url}`, { method: request.method, headers });
  forwarded.end(body);
  const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
  const content = await buffer(answer);
  if (fault === 'lost') return void response.destroy();
  response.writeHead(answer.statusCode ?? 500, answer.headers);
  if (fault !== 'cut' && fault !== 'stalled') return void response.end(content);
  response.write(content.subarray(0, content.length / 2), () => {
    if (fault === 'cut') response.destroy();
  });
}
