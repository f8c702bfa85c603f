// Sends requests of the guarded HTTP client to servers that misbehave.
import { text } from 'node:stream/consumers';
import {
  createGuardedFetch,
  type OutboundOptions,
  type OutboundRequest,
} from '../../../service/src/platform/outbound/guarded-fetch.ts';
import type { ResolveHost } from '../../../service/src/platform/outbound/resolve-host.ts';
import type { makeCertificate } from './certificate.ts';
import { type RawScript, type RawServer, renderHead, startRawServer } from './raw-http-server.ts';

export const HERE = [{ address: '127.0.0.1', family: 4 }];
const servers: RawServer[] = [];

export async function start(
  script: RawScript,
  certificate?: ReturnType<typeof makeCertificate>,
): Promise<RawServer> {
  const server = await startRawServer(script, certificate);
  servers.push(server);
  return server;
}

export async function stopAll(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
}

type Given = Partial<OutboundOptions> & {
  readonly request?: Partial<OutboundRequest>;
  readonly path?: string;
};

const resolveHere: ResolveHost = async () => HERE;

/**
 * Sends a request to the host name `media.test`; private addresses are allowed unless `given` forbids them.
 */
export const get = (server: RawServer, { request, path = '/', ...options }: Given = {}) =>
  createGuardedFetch({ allowPrivate: true, resolve: resolveHere, ...options })({
    url: `http://media.test:${server.port}${path}`,
    ...request,
  });

export const getText = async (server: RawServer, given?: Given): Promise<string> =>
  text((await get(server, given)).body);

export const ok: RawScript = (socket) => socket.end(`${renderHead(200, { 'Content-Length': 5 })}hello`);

export const redirectTo =
  (location: string | ((path: string) => string), status = 302): RawScript =>
  (socket, { path }) =>
    socket.end(
      renderHead(status, {
        Location: typeof location === 'string' ? location : location(path),
        'Content-Length': 0,
      }),
    );
