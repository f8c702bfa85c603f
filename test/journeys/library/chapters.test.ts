// Chapters of a video: those of its file, until a caller sets others; players find them by manifest and page.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { addChapters, delayClock } from '../../support/clips/remux.ts';
import { expectFieldRefused, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, ingest, openUpload, VIDEO } from '../../support/media.ts';
import { readText } from '../../support/playback/played-captions.ts';
import { checkServed } from '../../support/playback/served-manifests.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

type Urls = {
  readonly hls: string;
  readonly dash: string;
  readonly chapters: string | null;
  readonly embed: string;
};
const MKV = { filename: 'talk.mkv', mime_type: 'video/x-matroska' };
const OF_FILE = [
  { start_ms: 0, title: 'Intro & "more"' },
  { start_ms: 1500, title: 'The end' },
];

let service: TestService;
let talk: AssetJson;
let file: string;
beforeAll(async () => {
  service = await startTestService();
  const clip = await delayClock(await makeClip({ seconds: 3 }), service.dataDir);
  // The clock of the file begins at about ten seconds, and its last chapter is behind its end.
  file = await addChapters(clip, service.dataDir, [
    { start: 10.0, title: 'Intro & "more"' },
    { start: 11.5, title: 'The end' },
    { start: 99, title: 'Nothing' },
  ]);
  talk = await ingest(service, 'ann', { file, fields: MKV });
});
afterAll(() => service?.stop());

const urlsOf = async ({ id }: Pick<AssetJson, 'id'>): Promise<Urls> =>
  expectSuccess(await call<Urls>(service, `GET /media/${id}/playback`, { headers: asUser('ann') }));
const setChapters = ({ id }: Pick<AssetJson, 'id'>, chapters: unknown) =>
  call<AssetJson>(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { chapters } });

test('a video gets the chapters of its file, on its own clock', async () => {
  expect([talk.stream_status, talk['warnings']]).toEqual(['ready', []]);
  const [intro, end, ...others] = talk['chapters'] as typeof OF_FILE;
  expect([intro?.title, end?.title, others]).toEqual(['Intro & "more"', 'The end', []]);
  // Streams of the file begin a few milliseconds apart.
  expect(intro?.start_ms).toBeLessThan(100);
  expect(Math.abs((end?.start_ms ?? 0) - 1500)).toBeLessThan(100);
});

test('players find them as WebVTT, in the HLS manifest and on the page, each with its version', async () => {
  expectSuccess(await setChapters(talk, OF_FILE));
  const urls = await urlsOf(talk);
  const answer = await fetch(urls.chapters ?? '');
  expect(answer.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
  expect(answer.headers.get('cache-control')).toContain('immutable');
  const { duration_ms: duration } = talk;
  expect(await answer.text()).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nIntro &amp; &quot;more&quot;\n\n' +
      `00:00:01.500 --> 00:00:0${(Number(duration) / 1000).toFixed(3)}\nThe end\n\n`,
  );
  const [, json = ''] =
    /^#EXT-X-SESSION-DATA:DATA-ID="com\.apple\.hls\.chapters",URI="(.+)"$/m.exec(await readText(urls.hls)) ??
    [];
  expect(JSON.parse(await readText(new URL(json, urls.hls).href))).toMatchObject([
    { chapter: 1, 'start-time': 0, duration: 1.5, titles: [{ title: 'Intro & "more"' }] },
    { chapter: 2, 'start-time': 1.5, titles: [{ title: 'The end' }] },
  ]);
  expect(await readText(urls.embed)).toMatch(/<mediary-player[^>]* chapters="[^"]+\/chapters\.vtt\?v=\w+"/);
  await checkServed(urls);
  expect((await fetch(urls.chapters?.replace(/~[^/]+\//, '') ?? '')).status).toBe(404);
});

test('others take their place, at another URL; none are an empty file', async () => {
  const before = await urlsOf(talk);
  const later = [{ start_ms: 1000, title: 'Later' }];
  expect(expectSuccess(await setChapters(talk, later))['chapters']).toEqual(later);
  const changed = await urlsOf(talk);
  expect(changed.chapters).not.toBe(before.chapters);
  expect(await readText(changed.chapters ?? '')).toContain('00:00:01.000 --> ');
  expect(expectSuccess(await setChapters(talk, null))['chapters']).toEqual([]);
  const none = await urlsOf(talk);
  expect(none.chapters).toBeNull();
  expect(await readText(none.hls)).not.toContain('SESSION-DATA');
  expect(await readText(none.hls.replace('hls.m3u8', 'chapters.vtt'))).toBe('WEBVTT\n\n');
  expect(await readText(none.embed)).not.toContain('chapters');
});

test.each([
  ['those of a caller', [{ start_ms: 500, title: 'Mine' }]],
  ['that it has none', []],
])('an upload says %s, and the file changes nothing', async (_, chapters) => {
  const asset = await ingest(service, 'ann', { file, fields: { ...MKV, chapters } });
  expect([asset.stream_status, asset['chapters']]).toEqual(['ready', chapters]);
});

test('a wrong chapter is named, by creation and change', async () => {
  const start_ms = Number(talk.duration_ms);
  expectFieldRefused(await setChapters(talk, [{ start_ms, title: 'At the end' }]), 'chapters.0.start_ms');
  const wrong = [
    { start_ms: 10, title: 'a' },
    { start_ms: 10, title: 'b' },
  ];
  expectFieldRefused(await setChapters(talk, wrong), 'chapters.1.start_ms');
  expectFieldRefused(await setChapters(talk, [{ start_ms: 0, title: '' }]), 'chapters.0.title');
  expectFieldRefused(await setChapters(talk, [{ start_ms: 0.5, title: 'a' }]), 'chapters.0.start_ms');
  const create = (fields: object) =>
    call(service, 'POST /media/upload-url', { headers: asUser('ann'), json: fields });
  expectFieldRefused(await create({ ...VIDEO, chapters: wrong }), 'chapters.1.start_ms');
  const one = [{ start_ms: 0, title: 'a' }];
  expectFieldRefused(await create({ ...IMAGE, chapters: one }), 'chapters');
  const { asset_id: id } = await openUpload(service, 'ann', IMAGE);
  expectFieldRefused(await setChapters({ id }, one), 'chapters');
});
