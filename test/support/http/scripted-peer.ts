// An HTTP server on loopback with scripted responses: correct, wrong, or none.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { PeerResponse } from '../../../service/src/providers/hosted-api.contract.ts';

type PeerRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};
type Script = PeerResponse | ((request: PeerRequest) => PeerResponse);

export type ScriptedPeer = {
  readonly url: string;
  readonly requests: readonly PeerRequest[];
  answerWith(script: Script): void;
  stop(): Promise<void>;
};

export async function startPeer(): Promise<ScriptedPeer> {
  const requests: PeerRequest[] = [];
  let script: Script = { status: 500 };
  const server = createServer(
    (request, response) =>
      void read(request).then((asked) => {
        requests.push(asked);
        answer(response, typeof script === 'function' ? script(asked) : script);
      }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith: (next) => {
      script = next;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const read = async (request: IncomingMessage): Promise<PeerRequest> => ({
  method: request.method ?? '',
  path: request.url ?? '',
  headers: request.headers,
  body: await text(request),
});

function answer(response: ServerResponse, planned: PeerResponse): void {
  if (planned === 'hang') return;
  if (planned === 'cut') return void response.destroy();
  if (planned === 'cut in the middle') {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"a":', () => response.destroy());
    return;
  }
  const { status = 200, headers = {}, body = {} } = planned;
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
}
