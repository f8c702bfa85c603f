// The embed page and oEmbed: public videos for everybody, private ones by token, nothing else.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, IMAGE, ingest, offer, settled } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

const TITLE = '</title><script>alert("1")</script>';

let service: TestService;
let shown: AssetJson;
let hidden: AssetJson;
beforeAll(async () => {
  service = await startTestService({
    VIDEO_EXTRAS: 'none',
    CDN_BASE_URL: 'https://cdn.example.com/media',
    EMBED_FRAME_ANCESTORS: 'self,https://*.example.com',
  });
  const file = await makeClip({ seconds: 1, width: 320, height: 180 });
  [shown, hidden] = await Promise.all([
    ingest(service, 'ann', { file, fields: { visibility: 'public', title: TITLE } }),
    ingest(service, 'ann', { file, fields: { title: TITLE } }),
  ]);
});
afterAll(() => service.stop());

const embedOf = async ({ id }: AssetJson): Promise<string> =>
  (await call<{ embed: string }>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body.data
    .embed;

const open = async (url: string, options: RequestInit = {}) => {
  const answer = await fetch(url, { redirect: 'manual', ...options });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

describe('the page of a public video', () => {
  test('has a title as text, previews, and a policy that names the CDN', async () => {
    const url = await embedOf(shown);
    expect(url).toBe(`${service.url}/playback/${shown.id}/embed`);
    const { status, headers, text } = await open(url);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('<title>&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)');
    expect(text).not.toContain('<script>');
    expect(text).toContain(`<meta property="og:video" content="${url}">`);
    expect(text).toContain(`src="https://cdn.example.com/media/api/v1/playback/${shown.id}/hls.m3u8"`);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("connect-src 'self' https://cdn.example.com;");
    expect(policy).toContain("frame-ancestors 'self' https://*.example.com");
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    const again = await open(url, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('loads scripts that caches may keep', async () => {
    const url = await embedOf(shown);
    const { text } = await open(url);
    const [, player = ''] = /src="(\.\.\/elements\/[\w-]+\/player\.js)"/.exec(text) ?? [];
    const { text: code } = await open(new URL(player, url).href);
    const [chunk = ''] = /hls-video-element-[\w-]+\.js/.exec(code) ?? [];
    for (const script of [player, player.replace('player.js', chunk)]) {
      const { status, headers } = await open(new URL(script, url).href);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      const etag = headers.get('etag') ?? '';
      const bare = new URL(script.replace(/elements\/[^/]+/, 'elements/latest'), url).href;
      expect((await open(bare)).headers.get('cache-control')).toBe('public, max-age=300');
      expect((await open(bare, { headers: { 'if-none-match': etag } })).status).toBe(304);
    }
  });
});

test('a private video has a page below its token, without previews', async () => {
  const url = await embedOf(hidden);
  const [, token = ''] = /\/~([^/]+)\/embed$/.exec(url) ?? [];
  const { status, headers, text } = await open(url);
  expect(status).toBe(200);
  expect(text).not.toMatch(/og:|twitter:|oembed/);
  expect(text).toContain(`/~${token}/hls.m3u8`);
  expect(headers.get('x-robots-tag')).toBe('noindex');
  expect(headers.get('cache-control')).toMatch(/^private/);
  const fixed = `${service.url}/playback/${hidden.id}/embed`;
  expect((await open(fixed)).status).toBe(404);
  expect((await open(`${fixed}?token=wrong`)).status).toBe(401);
  const redirect = await open(`${fixed}?token=${token}`);
  expect([redirect.status, redirect.headers.get('location')]).toEqual([302, `./~${token}/embed`]);
});

test('an image has no page', async () => {
  const create = { width: 20, height: 20, channels: 3, background: 'red' } as const;
  const bytes = await sharp({ create }).png().toBuffer();
  const { id } = await offer(service, 'ann', { bytes, fields: { ...IMAGE, visibility: 'public' } });
  expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready' });
  expect((await open(`${service.url}/playback/${id}/embed`)).status).toBe(404);
});

describe('oEmbed', () => {
  const ask = (url: string, more = '') => open(`${service.url}/oembed?url=${encodeURIComponent(url)}${more}`);

  test('describes a public video, no larger than requested', async () => {
    const url = await embedOf(shown);
    const { status, text } = await ask(url, '&maxwidth=160&format=json');
    expect(status).toBe(200);
    const found = JSON.parse(text) as { html: string };
    expect(found).toMatchObject({ version: '1.0', type: 'video', title: TITLE, width: 160, height: 90 });
    expect(found).toMatchObject({ thumbnail_width: 320, thumbnail_height: 180 });
    expect(found.html).toContain(`<iframe src="${url}" title="&lt;/title`);
    expect(JSON.parse((await ask(url)).text)).toMatchObject({ width: 320, height: 180 });
  });

  test('does not describe private videos, their tokens or other addresses', async () => {
    const secret = await embedOf(hidden);
    const shownUrl = await embedOf(shown);
    for (const url of [
      secret,
      secret.replace(/\/~[^/]+/, ''),
      shownUrl.replace(service.address, 'https://other.example'),
      shownUrl.replace('/embed', '/hls.m3u8'),
      'no url',
    ])
      expect((await ask(url)).status).toBe(404);
  });

  test('offers JSON alone, and requires the URL', async () => {
    const xml = await call(service, 'GET /oembed?url=x&format=xml');
    expect([xml.status, xml.body.error?.error_code]).toEqual([501, 'NOT_IMPLEMENTED']);
    expect((await call(service, 'GET /oembed')).status).toBe(400);
  });
});
