// Private videos with encrypted segments: who gets the key, what the segments decrypt to, and that no other
// path has them in plain form.
import { execFile } from 'node:child_process';
import { createDecipheriv } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';

import { createLogger } from '../../service/src/platform/logger.ts';
import { renditionKey } from '../../service/src/storage/object-key.ts';
import { checkHls } from '../support/check-hls.ts';
import { ffmpegPath, makeClip } from '../support/clips.ts';
import { expectSuccess } from '../support/envelope.ts';
import { type AssetJson, ingest, offer, settled } from '../support/media.ts';
import { CLEAN, decode } from '../support/picture-and-sound.ts';
import { urlOf } from '../support/postgres.ts';
import {
  asUser,
  call,
  eventually,
  newDataDir,
  newDatabaseDir,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { storageOf } from '../support/test-store.ts';

type Playback = Readonly<Record<string, string | null>>;

const USER = 'ann';
const SECONDS = 9;
const FOLDER = '1-1';
const HOUR = 3_600_000;
const [BEFORE, AFTER] = ['url-secret-before-0123456789-0123456789', 'url-secret-after-0123456789-0123456789'];

let folders: string[] = [];
let postgres: EmbeddedPostgres;
/** With encryption; the same with another URL secret; without encryption. */
let service: TestService;
let rotated: TestService;
let plain: TestService;
let hidden: AssetJson;
let shown: AssetJson;
let ahead = 0;
const lines: string[] = [];

beforeAll(async () => {
  folders = [await newDatabaseDir(), await newDataDir()];
  const [databaseDir = '', dataDir = ''] = folders;
  postgres = await startEmbeddedPostgres(databaseDir);
  const shared = {
    DATABASE_URL: urlOf(postgres),
    DATA_DIR: dataDir,
    STORAGE_URL: `file:${dataDir}/objects`,
    ...storageOf(dataDir),
    URL_SIGNING_SECRET: BEFORE,
    SEGMENT_ENCRYPTION: 'private',
    VIDEO_EXTRAS: 'storyboard,preview,audio,mp4',
  };
  const write = (line: string) => {
    lines.push(line);
  };
  service = await startTestService(shared, {
    log: createLogger('debug', { write }),
    now: () => new Date(Date.now() + ahead),
  });
  const api = { ...shared, MEDIARY_ROLE: 'api' };
  const secrets = { URL_SIGNING_SECRET: AFTER, URL_SIGNING_SECRET_PREVIOUS: BEFORE };
  rotated = await startTestService({ ...api, ...secrets });
  plain = await startTestService({ ...api, SEGMENT_ENCRYPTION: 'off' });
  const file = await makeClip({ seconds: SECONDS });
  hidden = await ingest(service, USER, { file });
  shown = await ingest(service, USER, { file, fields: { visibility: 'public' } });
  for (const asset of [hidden, shown])
    await eventually(
      () => playbackOf(asset),
      ({ storyboard }) => storyboard !== null,
    );
}, 180_000);
afterAll(async () => {
  for (const one of [plain, rotated, service]) await one?.stop();
  await postgres?.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const askPlayback = ({ id }: AssetJson, { at = service, query = '' } = {}) =>
  call<Playback>(at, `GET /media/${id}/playback${query}`, { headers: asUser(USER) });
const playbackOf = async (asset: AssetJson, at = service): Promise<Playback> =>
  (await askPlayback(asset, { at })).body.data;
/** Where the relative URLs of the manifest start, with a new token. */
const newRoot = async (asset: AssetJson, at = service) =>
  ((await playbackOf(asset, at))['hls'] ?? '').replace('hls.m3u8', '');
const fixed = ({ id }: AssetJson, file: string) => `${service.url}/playback/${id}/${file}`;
const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);
const edit = async ({ id }: AssetJson, json: object) =>
  expectSuccess(await call(service, `PATCH /media/${id}`, { headers: asUser(USER), json }));

const statusAt = async (url: string, init: RequestInit = {}): Promise<number> => {
  const response = await fetch(url, { redirect: 'manual', ...init });
  await response.body?.cancel();
  return response.status;
};
async function bytesAt(url: string, init: RequestInit = {}): Promise<Buffer> {
  const response = await fetch(url, init);
  expect(response.status, url).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}
const textAt = async (url: string, init: RequestInit = {}) => (await bytesAt(url, init)).toString();
const storedBytes = async ({ id }: AssetJson, name: string): Promise<Buffer> =>
  Buffer.concat(await service.parts.store.stream(renditionKey(id, FOLDER, name)).toArray());

/** A media playlist, and the URLs in it as a player resolves them. */
type Track = {
  readonly url: string;
  readonly text: string;
  readonly key: string;
  readonly init: string;
  readonly segments: readonly string[];
};

async function readTrack(url: string, init: RequestInit = {}): Promise<Track> {
  const text = await textAt(url, init);
  const resolve = (path = '') => new URL(path, url).href;
  return {
    url,
    text,
    key: resolve(/^#EXT-X-KEY:METHOD=AES-128,URI="([^"]+)"$/m.exec(text)?.[1]),
    init: resolve(/^#EXT-X-MAP:URI="([^"]+)"$/m.exec(text)?.[1]),
    segments: [...text.matchAll(/^[^#\n].*$/gm)].map(([path]) => resolve(path)),
  };
}

/** Paths of the media playlists of pictures and sound. */
const listedIn = (multivariant: string): string[] => [
  ...[...multivariant.matchAll(/^[^#\n].*$/gm)].map(([path]) => path),
  ...[...multivariant.matchAll(/^#EXT-X-MEDIA:TYPE=AUDIO.*URI="([^"]+)"/gm)].map(([, path = '']) => path),
];

async function tracksOf(asset: AssetJson, at = service, init: RequestInit = {}): Promise<Track[]> {
  const root = await newRoot(asset, at);
  const paths = listedIn(await textAt(`${root}hls.m3u8`, init));
  return Promise.all(paths.map((path) => readTrack(`${root}${path}`, init)));
}
async function firstTrack(asset: AssetJson, at = service): Promise<Track & { readonly segment: string }> {
  const [track] = await tracksOf(asset, at);
  if (!track?.segments[0]) throw new Error('the video has no track');
  return { ...track, segment: track.segments[0] };
}

/** As a player does (RFC 8216, 5.2). */
function decrypt(ciphertext: Buffer, key: Buffer, sequence: number): Buffer {
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(sequence, 12);
  const cipher = createDecipheriv('aes-128-cbc', key, iv);
  return Buffer.concat([cipher.update(ciphertext), cipher.final()]);
}

const sequenceOf = ({ text }: Track) => Number(/^#EXT-X-MEDIA-SEQUENCE:(\d+)$/m.exec(text)?.[1]);

describe('an encrypted video', () => {
  test('has segments that its keys decrypt to the encoded bytes', async () => {
    const tracks = await tracksOf(hidden);
    expect(tracks.length).toBeGreaterThan(1);
    const keys = new Set<string>();
    for (const track of tracks) {
      const key = await bytesAt(track.key);
      expect(key).toHaveLength(16);
      keys.add(key.toString('hex'));
      expect(await bytesAt(track.init)).toEqual(await storedBytes(hidden, nameOf(track.init)));
      expect(track.segments.length).toBeGreaterThan(1);
      for (const [index, url] of track.segments.entries()) {
        const ciphertext = await bytesAt(url);
        expect(ciphertext.includes('mdat'), url).toBe(false);
        const decrypted = decrypt(ciphertext, key, sequenceOf(track) + index);
        expect(decrypted.equals(await storedBytes(hidden, nameOf(url))), url).toBe(true);
      }
    }
    expect(keys.size).toBe(tracks.length);
  });

  test('has playlists without violations, whose init segments precede the key', async () => {
    const root = await newRoot(hidden);
    const multivariant = await textAt(`${root}hls.m3u8`);
    expect(multivariant).not.toContain('I-FRAME');
    const playlists = new Map<string, string>();
    const sizes = new Map<string, number>();
    for (const path of new Set(listedIn(multivariant))) {
      const track = await readTrack(`${root}${path}`);
      expect(track.text.indexOf('#EXT-X-MAP')).toBeLessThan(track.text.indexOf('#EXT-X-KEY'));
      playlists.set(path, track.text);
      for (const url of [track.init, ...track.segments])
        sizes.set(nameOf(url), (await bytesAt(url)).byteLength);
    }
    expect(checkHls({ multivariant, playlists, sizes })).toEqual([]);
  });

  test('plays in ffmpeg by its URL alone, to the end', async () => {
    const hls = (await playbackOf(hidden))['hls'] ?? '';
    expect(await decode(hls)).toEqual(CLEAN);
    const { stderr } = await promisify(execFile)(ffmpegPath(), ['-i', hls, '-map', '0', '-f', 'null', '-']);
    const [, hours, minutes, seconds] = /time=(\d+):(\d+):([\d.]+)(?!.*time=)/s.exec(stderr) ?? [];
    const played = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    expect(Math.abs(played - SECONDS)).toBeLessThan(0.1);
  });

  test('offers HLS, pictures and captions alone', async () => {
    expect(await playbackOf(hidden)).toMatchObject({
      encryption: 'aes-128',
      dash: null,
      mp4: null,
      audio: null,
      storyboard: expect.stringContaining('/storyboard.vtt'),
      preview: expect.stringContaining('/preview.webp'),
    });
    const asset = await call<AssetJson>(service, `GET /media/${hidden.id}`, { headers: asUser(USER) });
    expect(asset.body.data['playback']).toMatchObject({ hls: fixed(hidden, 'hls.m3u8'), dash: null });
    const etag = asset.headers.get('etag');
    expect(
      (await call(plain, `GET /media/${hidden.id}`, { headers: asUser(USER) })).headers.get('etag'),
    ).not.toBe(etag);
    const root = await newRoot(hidden);
    for (const path of ['thumb.jpg', 'storyboard.vtt', 'preview.webp', 'frame.jpg?t=1', 'image?v=1'])
      expect(await statusAt(`${root}${path}`), path).toBe(200);
    const [sprite] = /^\d+-\d+\/storyboard-\d+\.jpg/m.exec(await textAt(`${root}storyboard.vtt`)) ?? [];
    expect(await statusAt(`${root}${sprite}`)).toBe(200);
  });

  test('keeps the download of its original for the owner', async () => {
    const { body } = await call<{ url: string }>(service, `GET /media/${hidden.id}/download-url`, {
      headers: asUser(USER),
    });
    expect((await bytesAt(body.data.url)).includes('mdat')).toBe(true);
  });

  test('has captions in plain form', async () => {
    const { status } = await call(service, `PUT /media/${hidden.id}/captions/en`, {
      headers: { ...asUser(USER), 'content-type': 'text/vtt' },
      body: Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'),
    });
    expect(status).toBe(200);
    const root = await newRoot(hidden);
    const multivariant = await textAt(`${root}hls.m3u8`);
    expect(multivariant).toContain('URI="captions/en.m3u8"');
    const list = await textAt(`${root}captions/en.m3u8`);
    expect(list).not.toContain('EXT-X-KEY');
    const [file = ''] = /^[^#\n].*$/m.exec(list) ?? [];
    expect(await textAt(new URL(file, `${root}captions/`).href)).toContain('Hello');
    expect(await decode(`${root}hls.m3u8`)).toMatchObject({ code: 0 });
  });
});

describe('the key', () => {
  test('is 16 bytes that no cache keeps, for pages of every origin', async () => {
    const { key } = await firstTrack(hidden);
    const response = await fetch(key, { headers: { origin: 'https://player.example' } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '16',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect([...response.headers.keys()].filter((name) => /etag|cdn-cache/.test(name))).toEqual([]);
    const head = await fetch(key, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '16']);
  });

  test('needs a token as segments do', async () => {
    const { key, segment, init, url } = await firstTrack(hidden);
    for (const each of [key, segment, init, url]) {
      const withoutToken = each.replace(/\/~[^/]+/, '');
      const withWrongToken = each.replace(/\/~[^/]+/, (token) => `${token}x`);
      expect([await statusAt(withoutToken), await statusAt(withWrongToken)], each).toEqual([404, 401]);
      for (const method of ['HEAD', 'POST'])
        expect(await statusAt(withoutToken, { method }), method).toBe(404);
    }
    const token = /~([^/]+)/.exec(await newRoot(shown))?.[1] ?? 'none';
    expect(await statusAt(key.replace(/~[^/]+/, `~${token}`))).toBe(401);
  });

  test('ends with the token', async () => {
    const { key, segment } = await firstTrack(hidden);
    ahead = 7 * HOUR;
    try {
      expect([await statusAt(key), await statusAt(segment)]).toEqual([401, 401]);
    } finally {
      ahead = 0;
    }
    expect([await statusAt(key), await statusAt(segment)]).toEqual([200, 200]);
  });

  test('is another one after a revocation, which ends the former', async () => {
    const before = await firstTrack(hidden);
    const key = await bytesAt(before.key);
    await call(service, `POST /media/${hidden.id}/revoke-playback`, { headers: asUser(USER) });
    expect([await statusAt(before.key), await statusAt(before.segment)]).toEqual([401, 401]);
    const after = await firstTrack(hidden);
    expect((await bytesAt(after.key)).equals(key)).toBe(false);
    const [oldToken = '', newToken = ''] = [before.key, after.key].map((url) => /~[^/]+/.exec(url)?.[0]);
    expect(await statusAt(before.key.replace(oldToken, newToken))).toBe(404);
    expect(await statusAt(before.segment.replace(oldToken, newToken))).toBe(404);
  });

  test('opens with a cookie where the URLs have no token', async () => {
    const { body, headers } = await askPlayback(hidden, { query: '?access=cookie' });
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    const root = (body.data['hls'] ?? '').replace('hls.m3u8', '');
    expect(root).toBe(fixed(hidden, ''));
    const [path = ''] = listedIn(await textAt(`${root}hls.m3u8`, { headers: { cookie } }));
    const track = await readTrack(`${root}${path}`, { headers: { cookie } });
    const [segment = ''] = track.segments;
    const response = await fetch(segment, { headers: { cookie } });
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    const bytes = decrypt(
      Buffer.from(await response.arrayBuffer()),
      await bytesAt(track.key, { headers: { cookie } }),
      sequenceOf(track),
    );
    expect(bytes.equals(await storedBytes(hidden, nameOf(segment)))).toBe(true);
    for (const each of [track.key, segment, track.url]) expect(await statusAt(each), each).toBe(404);
  });

  test('stays valid for running players while the URL secret is rotated', async () => {
    const before = await firstTrack(hidden);
    const after = await firstTrack(hidden, rotated);
    const at = (url: string) => url.replace(service.address, rotated.address);
    const stored = await storedBytes(hidden, nameOf(before.segment));
    const [oldKey, newKey] = [await bytesAt(at(before.key)), await bytesAt(after.key)];
    expect(oldKey.equals(await bytesAt(before.key))).toBe(true);
    expect(oldKey.equals(newKey)).toBe(false);
    for (const [url, key] of [
      [at(before.segment), oldKey],
      [after.segment, newKey],
    ] as const)
      expect(decrypt(await bytesAt(url), key, sequenceOf(before)).equals(stored), url).toBe(true);
  });

  test('is in no log line', async () => {
    const { key } = await firstTrack(hidden);
    const bytes = await bytesAt(key);
    await statusAt(`${key}x`);
    const text = lines.join('');
    expect(text).toContain('/api/v1/playback/');
    const [token = ''] = /~[^/]+/.exec(key) ?? [];
    for (const secret of [token, bytes.toString('hex'), bytes.toString('base64'), nameOf(key)])
      expect(text.includes(secret), secret).toBe(false);
  });
});

describe('no path has plain segments', () => {
  test('under other names, with ranges or HEAD, in manifests and in whole files', async () => {
    const root = await newRoot(hidden);
    const { key } = await firstTrack(hidden);
    const keyId = /\/([0-9a-f]{16})\//.exec(key)?.[1];
    const refused = [
      'dash.mpd',
      'early-1-1.mpd',
      'video.mp4',
      'video.mp4?download=a.mp4',
      'audio.m4a',
      ...['hls.m3u8', 'dash.mpd', 'early.mpd', 'video.mp4', 'audio.m4a'].map((name) => `${FOLDER}/${name}`),
      ...['r0.m3u8', 'r0-init.mp4', 'r0-00001.m4s', 'r0-iframes.m3u8', 'R0-00001.m4s', 'r0-00001.M4S'].map(
        (name) => `${FOLDER}/${name}`,
      ),
      `${FOLDER}//r0-00001.m4s`,
      `${FOLDER}/r0-00001%2em4s/`,
      `${FOLDER}/r0-00001.m4s/thumb.jpg`,
      `captions/../${FOLDER}/r0-00001.m4s`,
      `captions/..%2f${FOLDER}%2fr0-00001.m4s`,
      `${FOLDER}/${keyId}/r0-iframes.m3u8`,
      `${FOLDER}/${keyId}/video.mp4`,
      `${FOLDER}/${keyId}/dash.mpd`,
      `${FOLDER}/0000000000000000/r0-00001.m4s`,
      `${FOLDER}/0000000000000000/r0.key`,
      `1-2/${keyId}/r0-00001.m4s`,
      `${FOLDER}/${keyId}/${keyId}/r0-00001.m4s`,
    ];
    for (const path of refused) {
      expect(await statusAt(`${root}${path}`), path).toBe(404);
      expect(await statusAt(`${root}${path}`, { method: 'HEAD' }), `HEAD ${path}`).toBe(404);
      expect(await statusAt(`${root}${path}`, { headers: { range: 'bytes=0-99' } }), path).toBe(404);
    }
  });

  test('a range is answered with the whole ciphertext, and HEAD with its length', async () => {
    const { segment } = await firstTrack(hidden);
    const ciphertext = await bytesAt(segment);
    const stored = await storedBytes(hidden, nameOf(segment));
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

  test('the ETag differs from that of the plain segment and between keys', async () => {
    const name = nameOf((await firstTrack(hidden)).segment);
    const urls = [
      (await firstTrack(hidden)).segment,
      (await firstTrack(hidden, rotated)).segment,
      `${await newRoot(hidden, plain)}${FOLDER}/${name}`,
    ];
    const etags = await Promise.all(urls.map(async (url) => (await fetch(url)).headers.get('etag') ?? ''));
    expect(new Set(etags).size).toBe(3);
    const [url = '', etag = ''] = [urls[0], etags[0]];
    expect(await statusAt(url, { headers: { 'if-none-match': etag } })).toBe(304);
    expect(await statusAt(url, { headers: { 'if-none-match': etags[2] ?? '' } })).toBe(200);
  });
});

describe('the setting and the visibility', () => {
  test('leave public videos as they are', async () => {
    const playback = await playbackOf(shown);
    expect(playback).toMatchObject({ encryption: null, hls: fixed(shown, 'hls.m3u8') });
    expect(playback['dash']).not.toBeNull();
    expect(playback['mp4']).not.toBeNull();
    const multivariant = await textAt(playback['hls'] ?? '');
    expect(multivariant).toContain('I-FRAME');
    for (const path of listedIn(multivariant))
      expect(await textAt(fixed(shown, path))).not.toContain('EXT-X-KEY');
    expect(await decode(playback['dash'] ?? '')).toEqual(CLEAN);
  });

  test('take effect at once when the visibility changes', async () => {
    const path = `${FOLDER}/r0-00001.m4s`;
    await edit(shown, { visibility: 'private' });
    const root = await newRoot(shown);
    expect(await playbackOf(shown)).toMatchObject({ encryption: 'aes-128', dash: null, mp4: null });
    expect([await statusAt(`${root}${path}`), await statusAt(fixed(shown, path))]).toEqual([404, 404]);
    const { key, segment } = await firstTrack(shown);
    expect([await statusAt(key), await statusAt(segment)]).toEqual([200, 200]);
    await edit(shown, { visibility: 'public' });
    expect(await playbackOf(shown)).toMatchObject({ encryption: null });
    expect(await statusAt(fixed(shown, path))).toBe(200);
    expect([await statusAt(key), await statusAt(segment)]).toEqual([404, 404]);
  });

  test('encrypt nothing while it is off; players that have started play on', async () => {
    expect(await playbackOf(hidden, plain)).toMatchObject({
      encryption: null,
      dash: expect.stringContaining('/dash.mpd'),
    });
    const [track] = await Promise.all(
      listedIn(await textAt(`${await newRoot(hidden, plain)}hls.m3u8`)).map(async (path) =>
        textAt(`${await newRoot(hidden, plain)}${path}`),
      ),
    );
    expect(track).not.toContain('EXT-X-KEY');
    const { key, segment } = await firstTrack(hidden);
    const at = (url: string) => url.replace(service.address, plain.address);
    expect((await bytesAt(at(key))).equals(await bytesAt(key))).toBe(true);
    expect((await bytesAt(at(segment))).equals(await bytesAt(segment))).toBe(true);
  });
});

test('a video plays encrypted while it is being encoded', async () => {
  const file = await makeClip({ seconds: 16, width: 1280, height: 720, container: 'mkv' });
  const { id } = await offer(service, USER, {
    bytes: await readFile(file),
    fields: { mime_type: 'video/x-matroska', filename: 'a.mkv' },
  });
  const asset = { id } as AssetJson;
  await eventually(
    () => playbackOf(asset),
    ({ hls }) => hls !== null,
  );
  const early = await firstTrack(asset);
  expect(early.text).toContain('#EXT-X-PLAYLIST-TYPE:');
  const decrypted = decrypt(await bytesAt(early.segment), await bytesAt(early.key), sequenceOf(early));
  expect(decrypted.includes('mdat')).toBe(true);
  const root = await newRoot(asset);
  for (const path of ['dash.mpd', `early-${FOLDER}.mpd`, `${FOLDER}/${nameOf(early.segment)}`])
    expect(await statusAt(`${root}${path}`), path).toBe(404);
  await settled(service, USER, id);
  const complete = await readTrack(early.url);
  expect(complete.text).toContain('#EXT-X-ENDLIST');
  expect(complete.segments.slice(0, early.segments.length)).toEqual(early.segments);
  expect(await decode(`${root}hls.m3u8`)).toEqual(CLEAN);
}, 120_000);
