// The keys of encrypted videos need the token of the segments and end with it, and no path of such a video
// has its segments in plain form.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../../service/src/platform/observability/logger.ts';
import { makeClip } from '../../support/clips/clips.ts';
import {
  askPlayback,
  bytesAt,
  decryptSegment,
  firstTrack,
  fixedUrl,
  FOLDER,
  nameOf,
  OWNER,
  playbackOf,
  playlistsIn,
  readTrack,
  rootOf,
  statusAt,
  statusesAt,
  storedBytes,
  textAt,
} from '../../support/playback/encrypted-video.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { isStoreRemote } from '../../support/store/test-store.ts';

const HOUR = 3_600_000;

let service: TestService;
let asset: AssetJson;
let other: AssetJson;
let ahead = 0;
const lines: string[] = [];

beforeAll(async () => {
  const write = (line: string) => {
    lines.push(line);
  };
  service = await startTestService(
    {
      SEGMENT_ENCRYPTION: 'private',
      VIDEO_EXTRAS: 'storyboard,audio,mp4',
      SEGMENT_DELIVERY: isStoreRemote ? 'redirect' : 'x-accel-redirect',
      TRUST_PROXY: 'loopback',
    },
    { log: createLogger('debug', { write }), now: () => new Date(Date.now() + ahead) },
  );
  const file = await makeClip({ seconds: 4 });
  asset = await ingest(service, OWNER, { file });
  other = await ingest(service, OWNER, { file });
  await eventually(
    () => playbackOf(service, asset),
    ({ storyboard }) => storyboard !== null,
  );
});
afterAll(() => service.stop());

const tokenIn = (url: string): string => /~[^/]+/.exec(url)?.[0] ?? '';

describe('the key', () => {
  test('is 16 bytes that no cache keeps, for pages of every origin', async () => {
    const { key } = await firstTrack(service, asset);
    const { headers } = await fetch(key, { headers: { origin: 'https://player.example' } });
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '16',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect([headers.has('etag'), headers.has('cdn-cache-control')]).toEqual([false, false]);
    const head = await fetch(key, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '16']);
  });

  test('needs the token that the segments need', async () => {
    const { key, segment, init, url } = await firstTrack(service, asset);
    const foreign = tokenIn(await rootOf(service, other));
    for (const each of [key, segment, init, url]) {
      const token = tokenIn(each);
      const [none, wrong, others] = [
        each.replace(`/${token}`, ''),
        each.replace(token, `${token}x`),
        each.replace(token, foreign),
      ] as const;
      expect(await statusesAt([none, wrong, others]), each).toEqual([404, 401, 401]);
      expect(await statusAt(none, { method: 'HEAD' }), each).toBe(404);
    }
  });

  test('ends with the token', async () => {
    const { key, segment } = await firstTrack(service, asset);
    ahead = 7 * HOUR;
    try {
      expect(await statusesAt([key, segment])).toEqual([401, 401]);
    } finally {
      ahead = 0;
    }
    expect(await statusesAt([key, segment])).toEqual([200, 200]);
  });

  test('changes with a revocation, which ends the former URLs', async () => {
    const before = await firstTrack(service, asset);
    const key = await bytesAt(before.key);
    await call(service, `POST /media/${asset.id}/revoke-playback`, { headers: asUser(OWNER) });
    expect(await statusesAt([before.key, before.segment])).toEqual([401, 401]);
    const after = await firstTrack(service, asset);
    expect((await bytesAt(after.key)).equals(key)).toBe(false);
    const renewed = [before.key, before.segment].map((url) => url.replace(tokenIn(url), tokenIn(after.key)));
    expect(await statusesAt(renewed)).toEqual([404, 404]);
  });

  test('opens with a cookie where URLs have no token', async () => {
    const { body, headers } = await askPlayback(service, asset, '?access=cookie');
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    const withCookie = { headers: { cookie } };
    const root = (body.data['hls'] ?? '').replace('hls.m3u8', '');
    expect(root).toBe(fixedUrl(service, asset, ''));
    const [path = ''] = playlistsIn(await textAt(`${root}hls.m3u8`, withCookie));
    const track = await readTrack(`${root}${path}`, withCookie);
    const [segment = ''] = track.segments;
    const response = await fetch(segment, withCookie);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    const bytes = decryptSegment(
      Buffer.from(await response.arrayBuffer()),
      await bytesAt(track.key, withCookie),
      track.firstSequence,
    );
    expect(bytes.equals(await storedBytes(service, asset, nameOf(segment)))).toBe(true);
    expect(await statusesAt([track.key, segment, track.url])).toEqual([404, 404, 404]);
  });

  test('is in no log line', async () => {
    const { key } = await firstTrack(service, asset);
    const bytes = await bytesAt(key);
    await statusAt(`${key}x`);
    const text = lines.join('');
    expect(text).toContain('/api/v1/playback/');
    for (const secret of [tokenIn(key), bytes.toString('hex'), bytes.toString('base64'), nameOf(key)])
      expect(text.includes(secret), secret).toBe(false);
  });
});

describe('plain segments', () => {
  const IN_FOLDER = [
    ...['r0.m3u8', 'r0-init.mp4', 'r0-00001.m4s', 'r0-iframes.m3u8', 'r0-00001.M4S'],
    ...['hls.m3u8', 'dash.mpd', 'early.mpd', 'video.mp4', 'audio.m4a'],
  ];
  const BELOW_KEY_ID = ['r0-iframes.m3u8', 'video.mp4', 'audio.m4a', 'dash.mpd', 'hls.m3u8', 'r0-1.m4s'];

  test('have no path, by any name, with a range or HEAD', async () => {
    const root = await rootOf(service, asset);
    const keyId = /\/([0-9a-f]{16})\//.exec((await firstTrack(service, asset)).key)?.[1] ?? '';
    expect(keyId).not.toBe('');
    const paths = [
      ...['dash.mpd', `early-${FOLDER}.mpd`, 'video.mp4', 'video.mp4?download=a.mp4', 'audio.m4a'],
      ...IN_FOLDER.map((name) => `${FOLDER}/${name}`),
      ...BELOW_KEY_ID.map((name) => `${FOLDER}/${keyId}/${name}`),
      `${FOLDER}//r0-00001.m4s`,
      `${FOLDER}/r0-00001%2em4s/`,
      `${FOLDER}/r0-00001.m4s/thumb.jpg`,
      `captions/..%2f${FOLDER}%2fr0-00001.m4s`,
      `${FOLDER}/0000000000000000/r0-00001.m4s`,
      `${FOLDER}/0000000000000000/r0.key`,
      `1-2/${keyId}/r0-00001.m4s`,
      `${FOLDER}/${keyId}/${keyId}/r0-00001.m4s`,
    ];
    for (const path of paths)
      for (const init of [{}, { method: 'HEAD' }, { headers: { range: 'bytes=0-99' } }])
        expect(await statusAt(`${root}${path}`, init), `${path} ${JSON.stringify(init)}`).toBe(404);
  });

  test('are sent neither by the store nor by the web server in front', async () => {
    const proxied = { headers: { 'x-forwarded-for': '192.0.2.1' }, redirect: 'manual' } as const;
    const isHandedOver = async (url: string) => {
      const { status, headers } = await fetch(url, proxied);
      return status === 302 || headers.has('x-accel-redirect');
    };
    const shown = await ingest(service, OWNER, {
      file: await makeClip({ seconds: 1 }),
      fields: { visibility: 'public' },
    });
    expect(await isHandedOver(fixedUrl(service, shown, `${FOLDER}/r0-00001.m4s`))).toBe(true);
    const { segment, init, key } = await firstTrack(service, asset);
    for (const url of [segment, init, key]) {
      expect(await isHandedOver(url), url).toBe(false);
      expect((await bytesAt(url, { headers: proxied.headers })).equals(await bytesAt(url)), url).toBe(true);
    }
    const root = await rootOf(service, asset);
    for (const path of [`${FOLDER}/r0-00001.m4s`, 'video.mp4', 'audio.m4a'])
      expect(await statusAt(`${root}${path}`, proxied), path).toBe(404);
  });

  test('are not sent for a range, and HEAD has the length of the ciphertext', async () => {
    const { segment } = await firstTrack(service, asset);
    const ciphertext = await bytesAt(segment);
    const stored = await storedBytes(service, asset, nameOf(segment));
    expect(ciphertext.byteLength).toBe((Math.floor(stored.byteLength / 16) + 1) * 16);
    for (const range of ['bytes=0-99', 'bytes=16-', `bytes=${stored.byteLength}-`, 'bytes=-5'])
      expect((await bytesAt(segment, { headers: { range } })).equals(ciphertext), range).toBe(true);
    const head = await fetch(segment, { method: 'HEAD' });
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'content-length': String(ciphertext.byteLength),
      'content-type': 'video/iso.segment',
      'accept-ranges': 'none',
      'cache-control': 'private, max-age=31536000, immutable',
    });
  });
});
