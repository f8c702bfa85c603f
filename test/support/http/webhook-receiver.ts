// A receiver of outbound webhooks on loopback, whose responses a test chooses.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** A received request; `message` is its body as JSON. */
export type ReceivedWebhook = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly message: { id: string; type: string; asset_id: string | null; [member: string]: unknown };
  readonly atMs: number;
};

type Respond = (response: ServerResponse, received: ReceivedWebhook) => void;

export type WebhookReceiver = {
  readonly url: (path: string) => string;
  /** The requests for one path, in the order of their arrival. */
  readonly received: (path: string) => readonly ReceivedWebhook[];
  /** The response of a path from now on; 204 until then. */
  readonly respond: (path: string, respond: Respond) => void;
  readonly stop: () => Promise<void>;
};

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (response) => {
    response.writeHead(code, headers).end(body);
  };

/** Accepts requests and never responds. */
export const blackHole: Respond = () => {};

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const all: ReceivedWebhook[] = [];
  const responses = new Map<string, Respond>();
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await buffer(request)).toString('utf8');
    const received: ReceivedWebhook = {
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body,
      message: JSON.parse(body),
      atMs: performance.now(),
    };
    all.push(received);
    (responses.get(received.path) ?? status(204))(response, received);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    received: (path) => all.filter((received) => received.path === path),
    respond: (path, respond) => {
      responses.set(path, respond);
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** As receivers verify. Throws if the signature is not valid. */
export const verifyWebhook = (secret: string, { body, headers }: ReceivedWebhook): unknown =>
  new Webhook(secret).verify(body, headers);
