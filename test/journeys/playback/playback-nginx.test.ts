// nginx sends the segments that the service allows (SEGMENT_DELIVERY=x-accel-redirect); `npm run test:nginx`.
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import {
  asUser,
  call,
  eventually,
  httpServerOf,
  startTestService,
  type TestService,
} from '../../support/service.ts';

const SEGMENT = '1-1/r0-00001.m4s';

describe.each([
  ['each segment', false],
  ['popular segments once a second', true],
])('behind nginx, which asks for %s', (_, hasPopularSegments) => {
  let service: TestService;
  let hidden: AssetJson;
  /** The playback path with its token, by nginx and by the service itself. */
  let base: string;
  let direct: string;

  beforeAll(async () => {
    service = await startTestService(
      { SEGMENT_DELIVERY: 'x-accel-redirect', TRUST_PROXY: 'loopback' },
      { hasPopularSegments },
    );
    hidden = await ingest(service, 'ann', { file: await makeClip({ seconds: 2 }) });
    const { body } = await call<{ hls: string }>(service, `GET /media/${hidden.id}/playback`, {
      headers: asUser('ann'),
    });
    base = body.data.hls.replace('hls.m3u8', '');
    const { port } = httpServerOf(service).server.address() as AddressInfo;
    direct = base.replace(service.address, `http://127.0.0.1:${port}`);
  });
  afterAll(() => service?.stop());

  const get = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(url, { method, headers });
  const bytesOf = async (url: string, headers?: Record<string, string>) =>
    Buffer.from(await (await get(url, headers)).arrayBuffer());

  test('a segment has the bytes and the headers of the service, each time', async () => {
    for (let n = 0; n < 3; n++) await bytesOf(base + SEGMENT);
    const response = await get(base + SEGMENT);
    const { headers } = response;
    expect(Buffer.from(await response.arrayBuffer()).equals(await bytesOf(direct + SEGMENT))).toBe(true);
    // An ETag of nginx is the time and the length of the file.
    expect(headers.get('etag')).toMatch(/^"[0-9a-f]+-[0-9a-f]+"$/);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'video/iso.segment',
      'cache-control': 'private, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-tag': hidden.id,
      'surrogate-key': hidden.id,
      'access-control-expose-headers': (await get(direct + SEGMENT)).headers.get(
        'access-control-expose-headers',
      ),
    });
    expect(headers.get('x-request-id')).toBeTruthy();
    expect(headers.get('x-accel-redirect')).toBeNull();
  });

  test('ranges, HEAD and 304 are answered by nginx', async () => {
    const whole = await bytesOf(base + SEGMENT);
    const part = await bytesOf(base + SEGMENT, { range: 'bytes=100-199' });
    expect(part.equals(whole.subarray(100, 200))).toBe(true);
    const head = await get(base + SEGMENT, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(whole.length)]);
    const etag = head.headers.get('etag') ?? '';
    expect((await get(base + SEGMENT, { 'if-none-match': etag })).status).toBe(304);
  });

  test('manifests come from the service', async () => {
    const manifest = await get(`${base}hls.m3u8`);
    // nginx derives the ETag of a file from its time and size.
    expect(manifest.headers.get('etag')).toMatch(/^"[\w-]{22}"$/);
    expect(await manifest.text()).toContain('1-1/r0.m3u8');
  });

  test('requests that the service refuses get its errors', async () => {
    const refused = await get(base.replace(/~[^/]+/, '~wrong') + SEGMENT);
    expect([refused.status, await refused.json()]).toMatchObject([401, { success: false }]);
    expect((await get(base.replace(/~[^/]+\//, '') + SEGMENT)).status).toBe(404);
    expect((await get(`${base}1-2/r0-00001.m4s`)).status).toBe(404);
  });

  test('requests of other methods get the errors of the service', async () => {
    const refused = await get(base + SEGMENT, {}, 'DELETE');
    expect([refused.status, await refused.json()]).toMatchObject([404, { success: false }]);
  });

  test('what a cookie opens stays closed without it', async () => {
    const { headers, body } = await call<{ hls: string }>(
      service,
      `GET /media/${hidden.id}/playback?access=cookie`,
      { headers: asUser('ann') },
    );
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    const url = body.data.hls.replace('hls.m3u8', SEGMENT);
    for (let n = 0; n < 4; n++) expect((await get(url, { cookie })).status).toBe(200);
    expect((await get(url)).status).toBe(404);
  });

  test('the files cannot be requested by their location', async () => {
    // Not the segment of the other tests, whose bytes are in memory.
    const { headers } = await get(`${direct}1-1/r0-init.mp4`, { 'x-forwarded-for': '192.0.2.1' });
    const location = headers.get('x-accel-redirect') ?? '';
    expect(location).toMatch(/^\/_mediary\/objects\/[0-9a-f]{2}\/renditions\//);
    for (const path of [location, `/_segments${location}`, '/_segments']) {
      const refused = await get(service.address + path);
      expect([refused.status, await refused.json()]).toMatchObject([404, { success: false, code: 404 }]);
    }
    const permission = await get(`${service.address}/_segments/permission`);
    expect([401, 404]).toContain(permission.status);
  });

  test('a request that did not pass nginx gets the bytes, and sees no path', async () => {
    for (let n = 0; n < 4; n++)
      expect((await get(base + SEGMENT)).headers.get('x-accel-redirect')).toBeNull();
    const response = await get(direct + SEGMENT);
    expect([response.status, response.headers.get('x-accel-redirect')]).toEqual([200, null]);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  });

  test('the service is asked for each, or for few of many', async () => {
    let asked = 0;
    const count = () => {
      asked += 1;
    };
    httpServerOf(service).server.on('request', count);
    const started = Date.now();
    for (let n = 0; n < 100; n++) await bytesOf(base + SEGMENT);
    const seconds = Math.ceil((Date.now() - started) / 1000);
    httpServerOf(service).server.off('request', count);
    if (hasPopularSegments) expect(asked).toBeLessThanOrEqual(2 + seconds);
    else expect(asked).toBe(100);
  });

  test('a revocation ends it within about a second', async () => {
    for (let n = 0; n < 4; n++) expect((await get(base + SEGMENT)).status).toBe(200);
    await call(service, `POST /media/${hidden.id}/revoke-playback`, { headers: asUser('ann') });
    const refused = await eventually(
      () => get(base + SEGMENT),
      ({ status }) => status !== 200,
      { withinMs: 5000 },
    );
    expect([refused.status, await refused.json()]).toMatchObject([401, { success: false }]);
  });

  test('access rules are checked for each request', async () => {
    const headers = asUser('ann');
    await call(service, `PATCH /media/${hidden.id}`, {
      headers,
      json: { access: { referrers: ['www.example.com'] } },
    });
    const { body } = await call<{ hls: string }>(service, `GET /media/${hidden.id}/playback`, { headers });
    const url = body.data.hls.replace('hls.m3u8', SEGMENT);
    for (let n = 0; n < 4; n++) {
      const allowed = await get(url, { referer: 'https://www.example.com/' });
      expect([allowed.status, allowed.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
      const refused = await get(url);
      const error = { details: { reason: 'referrer_not_allowed' } };
      expect([refused.status, await refused.json()]).toMatchObject([403, { error }]);
    }
  });

  test('while no process runs, the response says when to retry', async () => {
    await httpServerOf(service).close();
    const refused = await get(`${base}1-1/r0-00002.m4s`);
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      503,
      '1',
      { success: false, code: 503 },
    ]);
  });
});
