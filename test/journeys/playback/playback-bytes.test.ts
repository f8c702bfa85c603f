// Headers of playback files: content types, ranges, ETags, cache lifetimes and CORS.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

const TYPES: Readonly<Record<string, string>> = {
  'hls.m3u8': 'application/vnd.apple.mpegurl',
  'dash.mpd': 'application/dash+xml',
  'thumb.jpg': 'image/jpeg',
  '1-1/r0.m3u8': 'application/vnd.apple.mpegurl',
  '1-1/r0-init.mp4': 'video/mp4',
  '1-1/r0-00001.m4s': 'video/iso.segment',
};
const FILES = Object.keys(TYPES);
const SEGMENT = '1-1/r0-00001.m4s';

let service: TestService;
let shown: AssetJson;
let hidden: string;

beforeAll(async () => {
  service = await startTestService();
  const file = await makeClip({ seconds: 2 });
  const assets = await Promise.all([
    ingest(service, 'ann', { file, fields: { visibility: 'public' } }),
    ingest(service, 'ann', { file }),
  ]);
  shown = assets[0];
  const { body } = await call<{ hls: string }>(service, `GET /media/${assets[1].id}/playback`, {
    headers: asUser('ann'),
  });
  hidden = body.data.hls.replace('hls.m3u8', '');
});
afterAll(() => service.stop());

const address = (file: string): string => `${service.url}/playback/${shown.id}/${file}`;
const ask = (file: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  fetch(address(file), { method, headers });
const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());

test('every file has its content type and nosniff', async () => {
  for (const file of FILES) {
    const { status, headers } = await ask(file);
    expect([status, headers.get('content-type'), headers.get('x-content-type-options')], file).toEqual([
      200,
      TYPES[file],
      'nosniff',
    ]);
  }
});

test('HEAD has the headers of GET without the body', async () => {
  for (const file of FILES) {
    const [got, head] = [await ask(file), await ask(file, {}, 'HEAD')];
    const length = (await bytesOf(got)).length;
    expect(length).toBeGreaterThan(0);
    expect(head.status).toBe(200);
    for (const name of ['content-length', 'content-type', 'etag', 'cache-control', 'accept-ranges'])
      expect(head.headers.get(name), `${file} ${name}`).toBe(got.headers.get(name));
    expect(head.headers.get('content-length')).toBe(String(length));
    expect((await bytesOf(head)).length).toBe(0);
  }
});

test('a segment that is requested again has the same headers, and a part of it its own', async () => {
  const headersOf = ({ headers }: Response) =>
    [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  const first = await ask(SEGMENT);
  const whole = await bytesOf(first);
  const ids = new Set<string | null>();
  for (let n = 0; n < 5; n++) {
    const again = await ask(SEGMENT);
    ids.add(again.headers.get('x-request-id'));
    expect([again.status, headersOf(again)]).toEqual([200, headersOf(first)]);
    expect((await bytesOf(again)).equals(whole)).toBe(true);
    expect((await ask(SEGMENT, { range: 'bytes=0-9' })).status).toBe(206);
    expect((await ask(SEGMENT, { 'if-none-match': first.headers.get('etag') ?? '' })).status).toBe(304);
    expect((await ask(SEGMENT, {}, 'HEAD')).status).toBe(200);
    expect((await ask(`${SEGMENT}?v=1`)).status).toBe(200);
  }
  expect(ids.size).toBe(5);
});

describe('byte ranges', () => {
  test.each([
    ['bytes=0-99', 0, 99],
    ['bytes=100-100', 100, 100],
    ['bytes=-50', -50, Infinity],
    ['bytes=200-', 200, Infinity],
    ['bytes=200-999999999', 200, Infinity],
  ])('%s returns that part', async (range, first, last) => {
    const whole = await bytesOf(await ask(SEGMENT));
    const answer = await ask(SEGMENT, { range });
    const start = first < 0 ? whole.length + first : first;
    const end = Math.min(last, whole.length - 1);
    expect([answer.status, answer.headers.get('content-range')]).toEqual([
      206,
      `bytes ${start}-${end}/${whole.length}`,
    ]);
    expect(answer.headers.get('content-length')).toBe(String(end - start + 1));
    expect((await bytesOf(answer)).equals(whole.subarray(start, end + 1))).toBe(true);
  });

  test('an unsatisfiable range gets 416 with the size', async () => {
    const size = (await bytesOf(await ask(SEGMENT))).length;
    const answer = await ask(SEGMENT, { range: `bytes=${size}-` });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
  });

  test('anything but a single range gets the whole file', async () => {
    for (const range of ['bytes=0-1,5-6', 'bytes=9-3', 'lines=1-2', 'bytes=x-y'])
      expect((await ask(SEGMENT, { range })).status, range).toBe(200);
  });

  test('If-Range returns a part only of the same version', async () => {
    const etag = (await ask(SEGMENT)).headers.get('etag') ?? '';
    expect((await ask(SEGMENT, { range: 'bytes=0-9', 'if-range': etag })).status).toBe(206);
    expect((await ask(SEGMENT, { range: 'bytes=0-9', 'if-range': '"another"' })).status).toBe(200);
  });
});

test('a matching ETag gets 304', async () => {
  for (const file of FILES) {
    const etag = (await ask(file)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const held of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
      const again = await ask(file, { 'if-none-match': held });
      expect(
        [again.status, (await bytesOf(again)).length, again.headers.get('etag')],
        `${file} ${held}`,
      ).toEqual([304, 0, etag]);
    }
    expect((await ask(file, { 'if-none-match': '"another"' })).status).toBe(200);
  }
});

test('different files have different validators', async () => {
  const etags = await Promise.all(FILES.map(async (file) => (await ask(file)).headers.get('etag')));
  expect(new Set(etags).size).toBe(FILES.length);
});

describe('caches', () => {
  test('keep one copy for all pages, which the id of the asset purges', async () => {
    for (const file of FILES) {
      const { headers } = await ask(file, { origin: 'https://player.example' });
      const sent = ['vary', 'cache-tag', 'surrogate-key', 'referrer-policy'].map((name) => headers.get(name));
      expect(sent, file).toEqual([null, shown.id, shown.id, 'no-referrer']);
    }
  });

  test('store segments for a year, and manifests for seconds', async () => {
    for (const file of FILES) {
      const lifetime = (await ask(file)).headers.get('cache-control');
      expect(lifetime, file).toBe(
        file.includes('/') ? 'public, max-age=31536000, s-maxage=3600, immutable' : 'public, max-age=10',
      );
    }
  });

  test('that are shared store nothing of a private asset', async () => {
    for (const file of FILES) {
      const { status, headers } = await fetch(hidden + file);
      expect([status, headers.get('cache-control')?.split(',')[0]], file).toEqual([200, 'private']);
    }
  });
});

test('pages of any origin may play, and may read errors', async () => {
  for (const [file, status] of [
    ...FILES.map((name) => [name, 200] as const),
    ['nothing.m4s', 404] as const,
  ]) {
    const { status: got, headers } = await ask(file, { origin: 'https://player.example' });
    expect([got, headers.get('access-control-allow-origin')], file).toEqual([status, '*']);
    expect(headers.get('access-control-expose-headers')).toMatch(/Content-Range/i);
  }
  const preflight = await ask(
    SEGMENT,
    {
      origin: 'https://player.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'range',
    },
    'OPTIONS',
  );
  expect(preflight.status).toBe(204);
  expect([
    preflight.headers.get('access-control-allow-origin'),
    preflight.headers.get('access-control-allow-headers'),
  ]).toEqual(['*', 'range']);
});

test('errors have the envelope', async () => {
  const answer = await call(service, `GET /playback/${shown.id}/nothing.m4s`);
  expect([answer.status, answer.body.success, answer.body.error.error_code]).toEqual([
    404,
    false,
    'NOT_FOUND',
  ]);
});
