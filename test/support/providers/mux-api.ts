// The calls of the Mux API that a migration makes, on loopback: assets in pages, masters, and text tracks.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { file, type FileServer, inTurn, startFileServer, status } from '../http/file-server.ts';

type MuxVideo = {
  readonly asset: { readonly id: string; readonly [member: string]: unknown };
  readonly master: Buffer;
  /** How often the master is missing before it can be read. */
  readonly misses?: number;
};

export type MuxApi = {
  /** Settings of the command. */
  readonly environment: Readonly<Record<string, string>>;
  readonly server: FileServer;
};

const PAGE_SIZE = 2;
const AUTHORIZATION = `Basic ${Buffer.from('token-id:token-secret').toString('base64')}`;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const reply =
  (find: (url: URL, method: string) => object): Handler =>
  (request, response) => {
    if (request.headers.authorization !== AUTHORIZATION) return void response.writeHead(401).end();
    const url = new URL(request.url ?? '', 'http://mux.test');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(find(url, request.method ?? '')));
  };

export async function startMuxApi(
  videos: readonly MuxVideo[],
  texts: Readonly<Record<string, string>>,
): Promise<MuxApi> {
  const server = await startFileServer();
  const assets = videos.map(({ asset }) => asset);
  server.serve(
    '/video/v1/assets',
    reply(({ searchParams: query }) => {
      const start = Number(query.get('cursor') ?? 0);
      const end = start + PAGE_SIZE;
      return { data: assets.slice(start, end), next_cursor: end < assets.length ? String(end) : null };
    }),
  );
  for (const video of videos) serveVideo(server, video);
  for (const [path, text] of Object.entries(texts)) server.serve(path, file(Buffer.from(text)));
  return {
    server,
    environment: {
      MUX_TOKEN_ID: 'token-id',
      MUX_TOKEN_SECRET: 'token-secret',
      MUX_API_URL: server.url,
      MUX_STREAM_URL: server.url,
    },
  };
}

/** The master is prepared when it is asked for, and ready at the second look. */
function serveVideo(server: FileServer, { asset, master, misses = 0 }: MuxVideo): void {
  const path = `/video/v1/assets/${asset.id}`;
  const missing = Array.from({ length: misses }, () => status(404));
  const url = server.serve(`/masters/${asset.id}.mp4`, inTurn(...missing, file(master)));
  const states = [{ status: 'preparing' }, { status: 'ready', url }];
  let looks = -1;
  server.serve(
    path,
    reply(() => {
      const state = looks < 0 ? undefined : states[Math.min(looks++, 1)];
      return { data: { ...asset, ...(state && { master: state }) } };
    }),
  );
  server.serve(
    `${path}/master-access`,
    reply((_url, method) => {
      if (method === 'PUT') looks = 0;
      return { data: asset };
    }),
  );
}
