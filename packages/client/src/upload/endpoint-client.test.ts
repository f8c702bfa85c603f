// Tests uploads through the back end of an application, which passes on what the API returned.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer, type ApiServer, refuse, startApiServer } from '../api-server.fixture.ts';
import { createEndpointClient } from './endpoint-client.ts';
import { isMediaryError } from '../errors.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.close());

const FILE = new File(['12345'], 'film.mp4', { type: 'video/mp4' });

/** The back end of `/uploads`, and the store behind `/bytes`. */
function serveUploads(respond: typeof answer): void {
  const asset = { id: 'a-1', stream_status: 'ready', deleted_at: null };
  server.handle(({ method, path }, response) => {
    const [name] = path.split('?');
    if (name === '/bytes') response.writeHead(200).end();
    else if (`${method} ${name}` === 'POST /uploads') respond(response, openUpload());
    else if (name === '/uploads/a-1/playback')
      respond(response, { kind: 'video', thumbnail: 'http://t.test' });
    else if (name?.startsWith('/uploads/a-1')) respond(response, asset);
    else response.writeHead(404).end();
  });
}

const openUpload = () => ({
  asset_id: 'a-1',
  upload: { protocol: 'put', method: 'PUT', url: `${server.url}/bytes`, headers: {}, max_bytes: 100 },
  alternatives: [],
});

test.each<[string, typeof answer]>([
  ['the envelope of the API', answer],
  ['`data` alone', (response, data) => void response.writeHead(200).end(JSON.stringify(data))],
])('an upload takes four requests to a back end that returns %s', async (_title, respond) => {
  serveUploads(respond);
  const { media } = createEndpointClient({
    endpoint: `${server.url}/uploads?album=7`,
    headers: { csrf: 'x' },
  });
  const ids: string[] = [];
  const asset = await media.upload(FILE, { resume: false, onAsset: (id) => ids.push(id) });
  await media.waitUntilReady(asset.id);
  const playback = await media.playback(asset.id);
  expect([ids, asset.id, playback.thumbnail]).toEqual([['a-1'], 'a-1', 'http://t.test']);
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /uploads?album=7',
    'PUT /bytes',
    'POST /uploads/a-1/complete?album=7',
    'GET /uploads/a-1?album=7',
    'GET /uploads/a-1/playback?album=7',
  ]);
  const [opened] = server.requests;
  expect(JSON.parse(String(opened?.body))).toEqual({
    filename: 'film.mp4',
    content_type: 'video',
    mime_type: 'video/mp4',
    size_bytes: 5,
  });
  expect(opened?.headers['csrf']).toBe('x');
});

test('a refusal that the back end passes on reaches the page', async () => {
  server.handle((_request, response) =>
    refuse(response, { status: 413, code: 'PAYLOAD_TOO_LARGE', details: { limit: 4 } }),
  );
  const { media } = createEndpointClient({ endpoint: `${server.url}/uploads` });
  const refused = await media.upload(FILE).catch((error: unknown) => error);
  expect(isMediaryError(refused, 'PAYLOAD_TOO_LARGE') && refused.details).toEqual({ limit: 4 });
});
