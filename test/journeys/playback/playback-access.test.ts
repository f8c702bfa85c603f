// Public assets play for everyone, private ones with a token that expires.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { CLEAN, decode, playlistsOf } from '../../support/clips/picture-and-sound.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

type Addresses = { hls: string; dash: string; thumbnail: string; expires_at: string | null };

const HOUR = 3_600_000;
const ENTRIES = ['hls.m3u8', 'dash.mpd', 'thumb.jpg'];

let service: TestService;
let ahead = 0;
let shown: AssetJson;
let hidden: AssetJson;

beforeAll(async () => {
  service = await startTestService({}, { now: () => new Date(Date.now() + ahead) });
  const file = await makeClip({ seconds: 2 });
  [shown, hidden] = await Promise.all([
    ingest(service, 'ann', { file, fields: { visibility: 'public' } }),
    ingest(service, 'ann', { file }),
  ]);
});
afterAll(() => service.stop());

const addressesOf = async (
  { id }: AssetJson,
  headers: Record<string, string> = asUser('ann'),
): Promise<Addresses> => (await call<Addresses>(service, `GET /media/${id}/playback`, { headers })).body.data;

const fixed = ({ id }: AssetJson, path: string): string => `${service.url}/playback/${id}/${path}`;
const get = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { redirect: 'manual', headers });
const statusOf = async (url: string): Promise<number> => (await get(url)).status;
const textOf = async (url: string): Promise<string> => (await get(url)).text();
const tokenIn = ({ hls }: Addresses): string => /\/~([^/]+)\//.exec(hls)?.[1] ?? '';

/** Every file below the manifests, by the paths that these name. */
async function childrenOf({ hls, dash }: Addresses): Promise<string[]> {
  const { pictures, sounds } = await playlistsOf(hls);
  const named = await Promise.all(
    [...pictures, ...sounds].map(async (url) =>
      [...(await textOf(url)).matchAll(/URI="([^"]+)"|^([^#\s].*)$/gm)].map(
        ([, init, segment]) => new URL(init ?? segment ?? '', url).href,
      ),
    ),
  );
  const folder = /<BaseURL>(.*)<\/BaseURL>/.exec(await textOf(dash))?.[1] ?? '';
  return [...pictures, ...sounds, ...named.flat(), new URL(`${folder}r0-init.mp4`, dash).href];
}

test('a public asset plays at its fixed paths without credentials', async () => {
  expect(await addressesOf(shown)).toMatchObject({ ...(shown['playback'] as object), expires_at: null });
  for (const entry of ENTRIES) expect(await statusOf(fixed(shown, entry)), entry).toBe(200);
  expect(await decode(fixed(shown, 'hls.m3u8'))).toEqual(CLEAN);
});

describe('a private asset', () => {
  test('plays at URLs with a token until they expire', async () => {
    const addresses = await addressesOf(hidden);
    expect(Date.parse(addresses.expires_at ?? '') - Date.now()).toBeGreaterThan(5.9 * HOUR);
    for (const url of [addresses.hls, addresses.dash]) expect(await decode(url), url).toEqual(CLEAN);
    expect(await statusOf(addresses.thumbnail)).toBe(200);
  });

  test('serves all its files with one token, and none without', async () => {
    const addresses = await addressesOf(hidden);
    const children = await childrenOf(addresses);
    expect(children.length).toBeGreaterThanOrEqual(7);
    for (const url of children) {
      expect(await statusOf(url), url).toBe(200);
      expect(await statusOf(url.replace(/\/~[^/]+/, '')), url).toBe(404);
      expect(await statusOf(url.replace(/\/~[^/]+/, '/~wrong')), url).toBe(401);
    }
  });

  test('is 404 without a token, and 401 with a wrong one', async () => {
    const token = tokenIn(await addressesOf(hidden));
    for (const entry of ENTRIES) {
      expect(await statusOf(fixed(hidden, entry))).toBe(404);
      for (const wrong of ['x', `${token}x`, token.slice(1), token.toUpperCase(), '%00', `${token}%20`, '']) {
        expect(await statusOf(fixed(hidden, `~${wrong}/${entry}`)), wrong).toBe(401);
        expect(await statusOf(fixed(hidden, `${entry}?token=${wrong}`)), wrong).toBe(401);
      }
    }
  });

  test('rejects the token of another asset', async () => {
    const other = await ingest(service, 'ann', {
      file: await makeClip({ seconds: 1, width: 160, height: 90 }),
    });
    expect(await statusOf(fixed(hidden, `~${tokenIn(await addressesOf(other))}/hls.m3u8`))).toBe(401);
  });

  test('redirects from the fixed path with ?token= to the path with the token', async () => {
    const token = tokenIn(await addressesOf(hidden));
    for (const entry of ENTRIES) {
      const answer = await get(fixed(hidden, `${entry}?token=${token}`));
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'no-store']);
      expect(new URL(answer.headers.get('location') ?? '', answer.url).href).toBe(
        fixed(hidden, `~${token}/${entry}`),
      );
    }
    expect(await decode(fixed(hidden, `hls.m3u8?token=${token}`))).toEqual(CLEAN);
  });

  test('has the same manifest bytes for every viewer', async () => {
    const owner = await addressesOf(hidden);
    ahead = 1000;
    const application = await addressesOf(hidden, asService).finally(() => {
      ahead = 0;
    });
    expect(tokenIn(application)).not.toBe(tokenIn(owner));
    for (const name of ['hls', 'dash'] as const) {
      const manifest = await textOf(owner[name]);
      expect(manifest).toBe(await textOf(application[name]));
      expect(manifest).not.toContain('~');
    }
  });

  test('has no token in the playback member of the asset', async () => {
    const read = await call<AssetJson>(service, `GET /media/${hidden.id}`, { headers: asUser('ann') });
    expect(read.body.data['playback']).toEqual({
      hls: fixed(hidden, 'hls.m3u8'),
      dash: fixed(hidden, 'dash.mpd'),
      thumbnail: fixed(hidden, 'thumb.jpg'),
    });
    expect(JSON.stringify(read.body)).not.toContain('~');
  });

  test('rejects an expired token', async () => {
    const { hls } = await addressesOf(hidden);
    expect(await statusOf(hls)).toBe(200);
    ahead = 7 * HOUR;
    try {
      expect(await statusOf(hls)).toBe(401);
      expect(await statusOf((await addressesOf(hidden)).hls)).toBe(200);
    } finally {
      ahead = 0;
    }
  });

  test('returns its playback URLs to its owner and to service callers only', async () => {
    expect((await call(service, `GET /media/${hidden.id}/playback`, { headers: asUser('eve') })).status).toBe(
      403,
    );
    expect((await call(service, `GET /media/${hidden.id}/playback`)).status).toBe(401);
    expect((await call(service, `GET /media/${hidden.id}/playback`, { headers: asService })).status).toBe(
      200,
    );
  });
});

test('unknown assets and unknown files are 404', async () => {
  const stranger = { ...shown, id: '01900000-0000-7000-8000-000000000000' };
  for (const url of [
    fixed(stranger, 'hls.m3u8'),
    fixed(stranger, '~token/hls.m3u8'),
    fixed({ ...shown, id: 'nobody' }, 'hls.m3u8'),
  ]) {
    expect(await statusOf(url), url).toBe(404);
  }
  for (const path of [
    'other.m3u8',
    '1-1/r9-init.mp4',
    '1-2/r0-init.mp4',
    '1-1/..%2f..%2foriginal',
    '1-1/',
    '%2e%2e/hls.m3u8',
  ]) {
    expect(await statusOf(fixed(shown, path)), path).toBe(404);
  }
});

test('every 404 has the same message, which names the request that returns URLs', async () => {
  const names = [
    ...[...ENTRIES, 'image', 'embed', 'frame.jpg?t=1', 'storyboard.vtt', 'preview.webp', 'video.mp4'],
    ...['audio.m4a', '1-1/r0-init.mp4', '1-1/r0-00001.m4s', '1-1/r0.m3u8', 'other.m3u8'],
  ];
  const stranger = { ...shown, id: '01900000-0000-7000-8000-000000000000' };
  const urls = [
    ...names.flatMap((name) => [fixed(hidden, name), fixed(stranger, name)]),
    ...['other.m3u8', '1-1/r9-init.mp4', '1-2/r0-init.mp4'].map((name) => fixed(shown, name)),
  ];
  for (const url of urls) {
    const response = await get(url);
    expect([response.status, ((await response.json()) as { message: string }).message], url).toEqual([
      404,
      'Not found. Private assets play through the URLs of GET /api/v1/media/{id}/playback.',
    ]);
  }
});

test('a token is invalid as soon as its asset is deleted', async () => {
  const doomed = await ingest(service, 'ann', {
    file: await makeClip({ seconds: 1, width: 160, height: 90 }),
  });
  const addresses = await addressesOf(doomed);
  const urls = [addresses.hls, addresses.dash, addresses.thumbnail, ...(await childrenOf(addresses))];
  expect(await Promise.all(urls.map(statusOf))).toEqual(urls.map(() => 200));
  expect((await call(service, `DELETE /media/${doomed.id}`, { headers: asUser('ann') })).status).toBe(200);
  expect(await Promise.all(urls.map(statusOf))).toEqual(urls.map(() => 404));
});
