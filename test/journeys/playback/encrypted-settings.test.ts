// Encryption follows the setting and the visibility of a video, and players that have started play on while
// the URL secret is rotated or the setting changes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import {
  bytesAt,
  decryptSegment,
  firstTrack,
  fixedUrl,
  FOLDER,
  nameOf,
  OWNER,
  playbackOf,
  playlistsIn,
  rootOf,
  statusAt,
  statusesAt,
  storedBytes,
  textAt,
} from '../../support/playback/encrypted-video.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

const BEFORE = 'url-secret-before-0123456789-0123456789';
const AFTER = 'url-secret-after-0123456789-0123456789';

let data: SharedData;
/** The same with a new URL secret, and without encryption. */
let service: TestService;
let rotated: TestService;
let plain: TestService;
let hidden: AssetJson;
let shown: AssetJson;

beforeAll(async () => {
  data = await startSharedData();
  const shared = {
    ...data.environment,
    URL_SIGNING_SECRET: BEFORE,
    SEGMENT_ENCRYPTION: 'private',
  };
  service = await startTestService(shared);
  const api = { ...shared, MEDIARY_ROLE: 'api' };
  const secrets = { URL_SIGNING_SECRET: AFTER, URL_SIGNING_SECRET_PREVIOUS: BEFORE };
  rotated = await startTestService({ ...api, ...secrets });
  plain = await startTestService({ ...api, SEGMENT_ENCRYPTION: 'off' });
  const file = await makeClip({ seconds: 4 });
  hidden = await ingest(service, OWNER, { file });
  shown = await ingest(service, OWNER, { file, fields: { visibility: 'public' } });
});
afterAll(async () => {
  for (const one of [plain, rotated, service]) await one?.stop();
  await data?.remove();
});

const edit = async ({ id }: AssetJson, json: object) =>
  expectSuccess(await call(service, `PATCH /media/${id}`, { headers: asUser(OWNER), json }));
/** The same URL at another process. */
const movedTo = (at: TestService, url: string): string => url.replace(service.address, at.address);

test('a public video is not encrypted', async () => {
  const playback = await playbackOf(service, shown);
  expect(playback).toMatchObject({ encryption: null, hls: fixedUrl(service, shown, 'hls.m3u8') });
  const multivariant = await textAt(playback['hls'] ?? '');
  expect(multivariant).toContain('I-FRAME');
  for (const path of playlistsIn(multivariant))
    expect(await textAt(fixedUrl(service, shown, path))).not.toContain('EXT-X-KEY');
  expect(await decode(playback['dash'] ?? '')).toEqual(CLEAN);
});

test('a change of the visibility takes effect at once', async () => {
  const path = `${FOLDER}/r0-00001.m4s`;
  await edit(shown, { visibility: 'private' });
  expect(await playbackOf(service, shown)).toMatchObject({ encryption: 'aes-128', dash: null });
  const root = await rootOf(service, shown);
  expect(await statusesAt([`${root}${path}`, fixedUrl(service, shown, path)])).toEqual([404, 404]);
  const { key, segment } = await firstTrack(service, shown);
  expect(await statusesAt([key, segment])).toEqual([200, 200]);
  await edit(shown, { visibility: 'public' });
  expect(await playbackOf(service, shown)).toMatchObject({ encryption: null });
  expect(await statusAt(fixedUrl(service, shown, path))).toBe(200);
  expect(await statusesAt([key, segment])).toEqual([404, 404]);
});

test('nothing is encrypted while the setting is off', async () => {
  expect(await playbackOf(plain, hidden)).toMatchObject({
    encryption: null,
    dash: expect.stringContaining('/dash.mpd'),
  });
  const root = await rootOf(plain, hidden);
  const [path = ''] = playlistsIn(await textAt(`${root}hls.m3u8`));
  expect(await textAt(`${root}${path}`)).not.toContain('EXT-X-KEY');
  expect(await decode(`${root}hls.m3u8`)).toEqual(CLEAN);
});

test('players that have started play on after the setting is off', async () => {
  const { key, segment, url } = await firstTrack(service, hidden);
  for (const each of [key, segment, url])
    expect((await bytesAt(movedTo(plain, each))).equals(await bytesAt(each)), each).toBe(true);
});

test('players that have started play on while the URL secret is rotated', async () => {
  const before = await firstTrack(service, hidden);
  const after = await firstTrack(rotated, hidden);
  const stored = await storedBytes(service, hidden, nameOf(before.segment));
  const oldKey = await bytesAt(movedTo(rotated, before.key));
  const newKey = await bytesAt(after.key);
  expect(oldKey.equals(await bytesAt(before.key))).toBe(true);
  expect(oldKey.equals(newKey)).toBe(false);
  for (const [url, key] of [
    [movedTo(rotated, before.segment), oldKey],
    [after.segment, newKey],
  ] as const)
    expect(decryptSegment(await bytesAt(url), key, before.firstSequence).equals(stored), url).toBe(true);
});

test('the ETag of a segment differs between keys and from the plain one', async () => {
  const { segment } = await firstTrack(service, hidden);
  const urls = [
    segment,
    (await firstTrack(rotated, hidden)).segment,
    `${await rootOf(plain, hidden)}${FOLDER}/${nameOf(segment)}`,
  ];
  const etags = await Promise.all(urls.map(async (url) => (await fetch(url)).headers.get('etag') ?? ''));
  expect(new Set(etags).size).toBe(3);
  const [own = '', , plainEtag = ''] = etags;
  expect(await statusAt(segment, { headers: { 'if-none-match': own } })).toBe(304);
  expect(await statusAt(segment, { headers: { 'if-none-match': plainEtag } })).toBe(200);
});

test('the ETag of an asset changes with the setting, because its DASH URL does', async () => {
  const etagAt = async (at: TestService) =>
    (await call(at, `GET /media/${hidden.id}`, { headers: asUser(OWNER) })).headers.get('etag');
  expect(await etagAt(plain)).not.toBe(await etagAt(service));
});
