// Tests cdnhost as a client: uploads, status numbers, signed webhooks in order, and playback with tokens.
import { expect, test } from 'vitest';
import { useSimulators, STEP } from '../simulators.fixture.ts';
import { cdnToken, presignature, webhookSignature } from './signatures.ts';

const context = useSimulators({
  cdnhost: { libraryId: 7, apiKey: 'write', readOnlyApiKey: 'read', tokenAuthKey: 'zone' },
});
const { clock } = context;

type Body = Record<string, unknown> & { readonly guid: string };
const url = (path: string) => context.simulators.cdnhost.url + path;
const seconds = (ms = 0) => String(Math.floor(clock.now() / 1000) + ms / 1000);

async function api(
  method: string,
  path: string,
  { body, key = 'write' }: { body?: unknown; key?: string } = {},
) {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  const answer = await fetch(url(`/library/7/videos${path}`), {
    method,
    headers: { AccessKey: key },
    ...sent,
  });
  return { status: answer.status, body: (await answer.json()) as Body };
}
const create = async (title = 'film') => (await api('POST', '', { body: { title } })).body.guid;
const stored = async (guid: string) => (await api('GET', `/${guid}`, { key: 'read' })).body;
const sent = () => context.received.map(({ body }) => JSON.parse(body).Status);

function tusHeaders(
  video: string,
  { expires = seconds(3_600_000), libraryId = '7', apiKey = 'write' } = {},
): Record<string, string> {
  const AuthorizationSignature = presignature({ libraryId, apiKey, expires, video });
  return {
    'Tus-Resumable': '1.0.0',
    AuthorizationSignature,
    AuthorizationExpire: expires,
    VideoId: video,
    LibraryId: libraryId,
  };
}
const metadata = `filetype ${btoa('video/mp4')},title ${btoa('film')}`;
const begin = (headers: Record<string, string>, length: number) =>
  fetch(url('/tusupload'), {
    method: 'POST',
    headers: { ...headers, 'Upload-Length': String(length), 'Upload-Metadata': metadata },
  });
const append = (
  location: string,
  { headers, offset, bytes }: { headers: Record<string, string>; offset: number; bytes: string },
) =>
  fetch(url(location), {
    method: 'PATCH',
    headers: {
      ...headers,
      'Upload-Offset': String(offset),
      'Content-Type': 'application/offset+octet-stream',
    },
    body: bytes,
  });

test('a browser upload in two parts sends webhooks in the usual order, signed over the body', async () => {
  const video = await create();
  const headers = tusHeaders(video);
  const begun = await begin(headers, 10);
  const location = begun.headers.get('Location') ?? '';
  expect(begun.status).toBe(201);
  expect((await append(location, { headers, offset: 0, bytes: 'hello' })).headers.get('Upload-Offset')).toBe(
    '5',
  );

  const misplaced = await append(location, { headers, offset: 4, bytes: 'world!' });
  expect(misplaced.status).toBe(409);
  expect(misplaced.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect((await fetch(url(location), { method: 'HEAD', headers })).headers.get('Upload-Offset')).toBe('5');
  expect((await append(location, { headers, offset: 5, bytes: 'world' })).status).toBe(204);

  await clock.advance(0);
  expect(sent()).toEqual([6, 7]);
  await clock.advance(20 * STEP);
  expect(sent()).toEqual([6, 7, 0, 1, 2, 4, 4, 4, 3]);
  for (const { headers: received, body, path } of context.received) {
    expect(JSON.parse(body)).toEqual({ VideoLibraryId: 7, VideoGuid: video, Status: expect.any(Number) });
    expect(path).toBe('/api/v1/webhooks/stream/cdnhost');
    expect(received['x-bunnystream-signature']).toBe(webhookSignature('read', body));
    expect([
      received['x-bunnystream-signature-version'],
      received['x-bunnystream-signature-algorithm'],
    ]).toEqual(['v1', 'hmac-sha256']);
  }
});

test('the API has other status numbers than the webhooks, and shows renditions as they finish', async () => {
  const video = await create();
  expect(await stored(video)).toMatchObject({
    status: 0,
    hasOriginal: false,
    availableResolutions: null,
    encodeProgress: 0,
  });
  expect((await api('PUT', `/${video}`, { body: 'film' })).status).toBe(200);
  expect((await api('PUT', `/${video}`, { body: 'film' })).status).toBe(400);

  const seen = [(await stored(video))['status']];
  for (let step = 1; step <= 7; step += 1) {
    await clock.advance(STEP);
    const { status, availableResolutions } = await stored(video);
    seen.push(`${status} after ${sent().at(-1)}: ${availableResolutions}`);
  }
  expect(seen).toEqual([
    1,
    '1 after 0: null',
    '2 after 1: null',
    '3 after 2: null',
    '3 after 4: 240p',
    '3 after 4: 240p,360p',
    '3 after 4: 240p,360p,720p',
    '4 after 3: 240p,360p,720p',
  ]);
  expect(await stored(video)).toMatchObject({
    encodeProgress: 100,
    storageSize: 4,
    originalHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('an upload that fails at the provider is told by each list in its own number', async () => {
  context.simulators.cdnhost.setFault({ on: 'encoding', do: 'upload_failed' });
  const video = await create();
  const headers = tusHeaders(video);
  const location = (await begin(headers, 5)).headers.get('Location') ?? '';
  await append(location, { headers, offset: 0, bytes: 'hello' });
  await clock.advance(20 * STEP);
  expect(sent()).toEqual([6, 8]);
  expect(await stored(video)).toMatchObject({ status: 6, hasOriginal: false });
});

test('only a signature over this library, key, video and time opens an upload', async () => {
  const video = await create();
  const good = tusHeaders(video);
  const refused = [
    tusHeaders(video, { expires: seconds(-1000) }),
    tusHeaders(video, { apiKey: 'read' }),
    tusHeaders(video, { libraryId: '8' }),
    { ...good, AuthorizationExpire: seconds(7_200_000) },
    { ...good, VideoId: await create() },
    { 'Tus-Resumable': '1.0.0' },
  ];
  for (const headers of refused) expect((await begin(headers, 5)).status).toBe(401);
  expect((await begin({ ...good, 'Tus-Resumable': '0.2.2' }, 5)).status).toBe(412);
  const preflight = await fetch(url('/tusupload'), { method: 'OPTIONS' });
  expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain('AuthorizationSignature');
  expect(preflight.headers.get('Tus-Extension')).toBe('creation,creation-with-upload');
});

test('the read-only key reads and does not write; another key or library is refused', async () => {
  const video = await create();
  expect((await api('GET', '', { key: 'read' })).body).toMatchObject({
    totalItems: 1,
    currentPage: 1,
    itemsPerPage: 100,
    items: [{ guid: video }],
  });
  expect((await api('DELETE', `/${video}`, { key: 'read' })).status).toBe(401);
  expect((await api('GET', `/${video}`, { key: 'other' })).status).toBe(401);
  expect((await fetch(url(`/library/8/videos/${video}`), { headers: { AccessKey: 'write' } })).status).toBe(
    401,
  );
  expect((await api('POST', `/${video}`, { body: { title: 'renamed' } })).body).toMatchObject({
    success: true,
  });
  expect((await api('GET', '?search=NAMED')).body).toMatchObject({ items: [{ title: 'renamed' }] });
  expect((await api('DELETE', `/${video}`)).status).toBe(200);
  expect((await api('GET', `/${video}`)).status).toBe(404);
});

test('playback asks for a token: the path form covers the whole folder until it expires', async () => {
  const [video, other] = [await create(), await create()];
  await api('PUT', `/${video}`, { body: 'film' });
  await clock.advance(20 * STEP);
  const expires = seconds(60_000);
  const path = `/${video}/`;
  const token = cdnToken({
    key: 'zone',
    path,
    expires,
    parameters: new URLSearchParams({ token_path: path }),
  });
  const query = new URLSearchParams({ token, token_path: path, expires });
  const get = (file: string, prefix = `/bcdn_${query}`) => fetch(url(`${prefix}${file}`));

  const playlist = await get(`/${video}/playlist.m3u8`);
  expect([
    playlist.status,
    playlist.headers.get('Content-Type'),
    (await playlist.text()).split('\n')[0],
  ]).toEqual([200, 'application/vnd.apple.mpegurl', '#EXTM3U']);
  expect((await get(`/${video}/thumbnail.jpg`)).headers.get('Content-Type')).toBe('image/jpeg');
  expect((await get(`/${video}/playlist.m3u8?${query}`, '')).status).toBe(200);
  expect(
    await (await fetch(url(`/bcdn_${query}/${video}/original`), { headers: { Range: 'bytes=1-2' } })).text(),
  ).toBe('il');
  expect((await get(`/${video}/play_1080p.mp4`)).status).toBe(404);
  expect((await get(`/${video}/playlist.m3u8`, '')).status).toBe(403);
  expect((await get(`/${other}/playlist.m3u8`)).status).toBe(403);
  await clock.advance(61_000);
  expect((await get(`/${video}/playlist.m3u8`)).status).toBe(403);
});

test('captions are stored as Base64 and read from the delivery host; collections are listed', async () => {
  const video = await create();
  const captionsFile = Buffer.from('WEBVTT').toString('base64');
  const body = { srclang: 'de', label: 'Deutsch', captionsFile };
  expect((await api('POST', `/${video}/captions/de`, { body })).status).toBe(200);
  expect(await stored(video)).toMatchObject({ captions: [{ srclang: 'de', label: 'Deutsch', version: 1 }] });
  const [path, expires] = [`/${video}/`, seconds(60_000)];
  const parameters = new URLSearchParams({ token_path: path });
  const token = cdnToken({ key: 'zone', path, expires, parameters });
  const query = new URLSearchParams({ token, token_path: path, expires });
  const read = () => fetch(url(`${path}captions/de.vtt?${query}`));
  expect(await (await read()).text()).toBe('WEBVTT');
  expect((await api('DELETE', `/${video}/captions/de`)).status).toBe(200);
  expect((await read()).status).toBe(404);

  const collections = (init: RequestInit) =>
    fetch(url('/library/7/collections'), { headers: { AccessKey: 'write' }, ...init });
  const created = await collections({ method: 'POST', body: '{"name":"Talks"}' });
  const { guid } = (await created.json()) as Body;
  expect(await (await collections({})).json()).toMatchObject({
    totalItems: 1,
    items: [{ guid, name: 'Talks', videoCount: 0 }],
  });
});

test.each([
  ['POST', '/fetch', '/media/import'],
  ['POST', '/{video}/transcribe', '/captions/{language}'],
  ['POST', '/{video}/thumbnail', 'poster_time_ms'],
  ['GET', '/{video}/heatmap', 'no statistics'],
])('%s %s is not simulated, and says what is there instead', async (method, path, instead) => {
  const { status, body } = await api(method, path.replace('{video}', await create()));
  expect([status, body['message']]).toEqual([501, expect.stringContaining(instead)]);
});
