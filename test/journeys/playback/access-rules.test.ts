// Access rules: an asset plays on its sites, in its networks and countries alone, and may not be downloaded.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest, readAsset } from '../../support/media.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

const SITE = { referer: 'https://www.example.com/' };
const RULES = { referrers: ['www.example.com', '*.example.org'], downloads: false };

let service: TestService;
/** Public. */
let shown: AssetJson;
/** Private, and so encrypted. */
let hidden: AssetJson;
beforeAll(async () => {
  service = await startTestService({
    VIDEO_EXTRAS: 'mp4,audio',
    SEGMENT_ENCRYPTION: 'private',
    TRUST_PROXY: 'loopback',
    COUNTRY_HEADER: 'X-Country',
    CDN_PURGE_URL: 'http://127.0.0.1:9/purge',
    EMBED_FRAME_ANCESTORS: 'https://*.example.com',
  });
  const file = await makeClip({ seconds: 1, width: 320, height: 180 });
  [shown, hidden] = await Promise.all([
    ingest(service, 'ann', { file, fields: { visibility: 'public', access: RULES } }),
    ingest(service, 'ann', { file, fields: { access: { ...RULES, referrers: ['WWW.Example.com'] } } }),
  ]);
});
afterAll(() => service.stop());

const change = ({ id }: AssetJson, access: unknown) =>
  call<AssetJson>(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { access } });
const playbackOf = async ({ id }: AssetJson) =>
  (await call<Record<string, string>>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body
    .data;

type Sent = Readonly<Record<string, string>>;
const get = (url: string, headers: Sent = {}) => fetch(url, { redirect: 'manual', headers });

/** The status, and the reason of a refusal. */
async function outcomeOf(url: string, headers: Sent = {}): Promise<unknown> {
  const response = await get(url, headers);
  if (response.status < 400) return (await response.arrayBuffer()) && response.status;
  const { error } = (await response.json()) as { error: { details: { reason: string } } };
  return [response.status, error.details.reason];
}

/** A manifest, and each kind of file that it and the playback name. */
async function filesOf(asset: AssetJson): Promise<string[]> {
  const { hls = '', dash, thumbnail = '', image = '', frame = '', embed = '' } = await playbackOf(asset);
  const textOf = async (url: string) => (await get(url, SITE)).text();
  const linesOf = async (url: string) =>
    (await textOf(url)).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const [child = ''] = await linesOf(hls);
  const playlist = new URL(child, hls).href;
  const [segment = ''] = await linesOf(playlist);
  const named = [...(await textOf(playlist)).matchAll(/URI="([^"]+)"/g)].map(([, uri = '']) => uri);
  const children = [segment, ...named].map((path) => new URL(path, playlist).href);
  return [hls, ...(dash ? [dash] : []), playlist, ...children, thumbnail, image, `${frame}?t=0&w=320`, embed];
}

test('rules of the creation are shown in their normal form', async () => {
  expect((await readAsset(service, 'ann', shown.id))['access']).toEqual(RULES);
  expect((await readAsset(service, 'ann', hidden.id))['access']).toEqual({
    referrers: ['www.example.com'],
    downloads: false,
  });
});

describe('sites', () => {
  test.each(['public', 'private'])(
    'every file of a %s asset is for pages of its sites',
    async (visibility) => {
      const files = await filesOf(visibility === 'public' ? shown : hidden);
      expect(files.length).toBeGreaterThanOrEqual(9);
      for (const url of files) {
        const allowed = await get(url, SITE);
        expect(allowed.status, url).toBe(200);
        const caching = allowed.headers.get('cache-control');
        expect(caching, url).toBe(url.endsWith('.key') ? 'no-store' : 'private, no-cache');
        expect(allowed.headers.get('cdn-cache-control'), url).toBeNull();
        expect(allowed.headers.get('referrer-policy'), url).toBe('strict-origin');
        expect(await outcomeOf(url), url).toEqual([403, 'referrer_not_allowed']);
        const elsewhere = { referer: 'https://other.example/' };
        expect(await outcomeOf(url, elsewhere), url).toEqual([403, 'referrer_not_allowed']);
      }
    },
  );

  test('a browser that has a file asks again, and gets no bytes', async () => {
    const [hls = ''] = await filesOf(shown);
    const etag = (await get(hls, SITE)).headers.get('etag') ?? '';
    expect(await outcomeOf(hls, { ...SITE, 'if-none-match': etag })).toBe(304);
    expect(await outcomeOf(hls, { 'if-none-match': etag })).toEqual([403, 'referrer_not_allowed']);
  });

  test('Origin and Referer must both name an allowed site, or the service', async () => {
    const { hls = '' } = await playbackOf(shown);
    const own = new URL(service.url).origin;
    const refused = [403, 'referrer_not_allowed'];
    expect(await outcomeOf(hls, { origin: 'https://a.example.org' })).toBe(200);
    expect(await outcomeOf(hls, { origin: own, referer: `${own}/` })).toBe(200);
    expect(await outcomeOf(hls, { ...SITE, origin: 'https://other.example' })).toEqual(refused);
    expect(await outcomeOf(hls, { ...SITE, origin: 'null' })).toEqual(refused);
  });

  test('only the sites that operator and asset allow may frame the player', async () => {
    const { embed = '' } = await playbackOf(shown);
    const policies = (await get(embed, SITE)).headers.get('content-security-policy')?.split(', ') ?? [];
    expect(policies.map((policy) => policy.split('; ')[0])).toEqual([
      'frame-ancestors https://*.example.com',
      "frame-ancestors 'self' http://www.example.com http://*.example.org",
    ]);
  });

  test('a redirect to the token keeps the site', async () => {
    const { hls = '' } = await playbackOf(hidden);
    const [, token = ''] = /~([^/]+)/.exec(hls) ?? [];
    const fixed = `${service.url}/playback/${hidden.id}/hls.m3u8?token=${token}`;
    expect(await outcomeOf(fixed)).toEqual([403, 'referrer_not_allowed']);
    const { status, headers } = await get(fixed, SITE);
    expect([status, headers.get('referrer-policy')]).toEqual([302, 'strict-origin']);
  });
});

test('the JSON API is open to the owner and to service keys everywhere', async () => {
  for (const headers of [asUser('ann'), asService])
    for (const path of ['', '/playback'])
      expect((await call(service, `GET /media/${shown.id}${path}`, { headers })).status).toBe(200);
});

describe('networks and countries', () => {
  const from = (address: string, country?: string): Sent => ({
    'x-forwarded-for': address,
    ...(country && { 'x-country': country }),
  });

  test('come from the proxy alone', async () => {
    const [, , , url = ''] = await filesOf(shown);
    expect(url).toMatch(/m4s$/);
    await change(shown, { networks: ['203.0.113.0/24', '2001:db8::/32'] });
    expect(await outcomeOf(url, from('203.0.113.9'))).toBe(200);
    expect(await outcomeOf(url, from('2001:db8::1'))).toBe(200);
    expect(await outcomeOf(url, from('198.51.100.1'))).toEqual([403, 'network_not_allowed']);
    expect(await outcomeOf(url)).toEqual([403, 'network_not_allowed']);
    await change(shown, { countries: ['de', 'AT'] });
    expect(await outcomeOf(url, from('203.0.113.9', 'DE'))).toBe(200);
    expect(await outcomeOf(url, from('203.0.113.9', 'FR'))).toEqual([403, 'country_not_allowed']);
    expect(await outcomeOf(url, from('203.0.113.9'))).toEqual([403, 'country_not_allowed']);
    expect(await outcomeOf(url, { 'x-country': 'DE' })).toEqual([403, 'country_not_allowed']);
  });
});

describe('downloads', () => {
  beforeEach(() => change(shown, RULES));
  const downloadOf = async (headers: Sent) => {
    const answer = await call<{ url: string }>(service, `GET /media/${shown.id}/download-url`, { headers });
    return answer.status === 200 ? answer.body.data.url : [answer.status, answer.body.error?.details];
  };

  test('that are forbidden leave neither MP4, M4A nor a URL for users', async () => {
    expect(await playbackOf(shown)).toMatchObject({ mp4: null, audio: null });
    for (const file of ['video.mp4', 'audio.m4a', 'video.mp4?download=a.mp4'])
      expect(await outcomeOf(`${service.url}/playback/${shown.id}/${file}`, SITE), file).toEqual([
        403,
        'downloads_not_allowed',
      ]);
    for (const file of ['1-1/video.mp4', '1-1/audio.m4a'])
      expect((await get(`${service.url}/playback/${shown.id}/${file}`, SITE)).status, file).toBe(404);
    expect(await downloadOf(asUser('ann'))).toEqual([403, { reason: 'downloads_not_allowed' }]);
    expect(await outcomeOf(String(await downloadOf(asService)))).toBe(200);
  });

  test('of users hold the other rules, also those that were set since', async () => {
    await change(shown, { referrers: ['www.example.com'] });
    const { mp4 = '' } = await playbackOf(shown);
    expect([await outcomeOf(mp4, SITE), await outcomeOf(mp4)]).toEqual([200, [403, 'referrer_not_allowed']]);
    const url = String(await downloadOf(asUser('ann')));
    expect(await outcomeOf(url, SITE)).toBe(200);
    expect(await outcomeOf(url)).toEqual([403, 'referrer_not_allowed']);
    await change(shown, RULES);
    expect(await outcomeOf(url, SITE)).toEqual([403, 'downloads_not_allowed']);
  });
});

const TOO_MANY = Array.from({ length: 21 }, (_, n) => `10.0.0.${n}`);

describe('a change', () => {
  const refusal = async (access: unknown) => {
    const { status, body } = await change(shown, access);
    return [status, body.error?.details];
  };

  test.each([
    [{ referrers: [] }, { field: 'access.referrers', reason: 'below_minimum', limit: 1 }],
    [{ networks: TOO_MANY }, { field: 'access.networks', reason: 'above_maximum', limit: 20 }],
    [{ referrers: ['https://a.example'] }, { field: 'access.referrers.0', reason: 'invalid_value' }],
    [{ referers: ['a.example'] }, { field: 'access.referers', reason: 'unknown_member' }],
    [{ countries: ['UK'] }, { field: 'access.countries.0', reason: 'unsupported_value' }],
    [{ downloads: 'no' }, { field: 'access.downloads', reason: 'invalid_type' }],
  ])('that is not valid names the member: %j', async (access, details) => {
    expect(await refusal(access)).toEqual([400, expect.objectContaining(details)]);
  });

  test('an unknown rule is refused at the creation too', async () => {
    const { status, body } = await call(service, 'POST /media/upload-url', {
      headers: asUser('ann'),
      json: {
        filename: 'a.mp4',
        content_type: 'video',
        mime_type: 'video/mp4',
        access: { sites: ['a.example'] },
      },
    });
    expect([status, body.error?.details?.['field']]).toEqual([400, 'access.sites']);
  });

  test('counts at once; the first rules end what caches hold, and null opens the asset', async () => {
    expect((await change(shown, null)).body.data['access']).toBeNull();
    const { hls = '' } = await playbackOf(shown);
    const open = await get(hls);
    expect([open.status, open.headers.get('cache-control')]).toEqual([200, 'public, max-age=10']);
    expect(open.headers.get('referrer-policy')).toBe('no-referrer');
    const { image: before } = await playbackOf(shown);
    await change(shown, RULES);
    expect(await outcomeOf(hls)).toEqual([403, 'referrer_not_allowed']);
    expect((await playbackOf(shown))['image']).not.toBe(before);
    expect((await change(shown, { downloads: true })).body.data['access']).toBeNull();
  });
});
