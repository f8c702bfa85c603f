// What a video has beside its renditions: storyboard, preview, MP4, sound, and the frame at any time.
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { CHANGES, colourOf } from '../../support/playback/posters.ts';
import { checkServed } from '../../support/playback/served-manifests.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';

type Urls = Record<'storyboard' | 'preview' | 'mp4' | 'audio' | 'frame' | 'hls' | 'dash', string | null> & {
  readonly extras_pending: boolean;
};

let service: TestService;
let hidden: AssetJson;
let shown: AssetJson;
let urls: Urls;

const urlsOf = async (id: string): Promise<Urls> =>
  (await call<Urls>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body.data;

const bytesAt = async (url: string | null, headers: Record<string, string> = {}) => {
  const answer = await fetch(url ?? '', { headers });
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
};

beforeAll(async () => {
  service = await startTestService({ VIDEO_EXTRAS: 'storyboard,preview,mp4,audio' });
  const [film, silent] = await Promise.all([
    makeClip({ seconds: 10, width: 640, height: 360, more: ['-vf', CHANGES] }),
    makeClip({ seconds: 1, width: 320, height: 180, audio: false }),
  ]);
  [hidden, shown] = await Promise.all([
    ingest(service, 'ann', { file: film }),
    ingest(service, 'ann', { file: silent, fields: { visibility: 'public' } }),
  ]);
  urls = await eventually(
    () => urlsOf(hidden.id),
    ({ mp4 }) => mp4 !== null,
  );
});
afterAll(() => service.stop());

test('they appear together, with one event', async () => {
  const events = (await timelineOf(service, hidden.id)).filter(({ type }) => type === 'asset.updated');
  const details = { fields: ['playback'], extras: ['storyboard', 'preview', 'audio', 'mp4'] };
  expect(events).toMatchObject([{ source: 'service', details }]);
  expect(urls.extras_pending).toBe(false);
  expect(urls.mp4).toMatch(/\/playback\/[^/]+\/~[^/]+\/video\.mp4$/);
});

test('the storyboard names the place of a picture for each two seconds', async () => {
  const { answer, bytes } = await bytesAt(urls.storyboard);
  expect(answer.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
  const cues = [...bytes.toString().matchAll(/(\S+) --> (\S+)\n(.+)#xywh=(\d+),(\d+),(\d+),(\d+)\n/g)];
  expect(cues.map(([, start, end]) => [start, end])).toEqual([
    ['00:00:00.000', '00:00:02.000'],
    ['00:00:02.000', '00:00:04.000'],
    ['00:00:04.000', '00:00:06.000'],
    ['00:00:06.000', '00:00:08.000'],
    ['00:00:08.000', '00:00:10.000'],
  ]);
  const [, , , file = ''] = cues[0] ?? [];
  const sprite = await bytesAt(new URL(file, urls.storyboard ?? '').href);
  expect(sprite.answer.headers.get('cache-control')).toContain('immutable');
  expect(await sharp(sprite.bytes).metadata()).toMatchObject({ width: 800, height: 90, format: 'jpeg' });
  const colours = await Promise.all(
    cues.map(([, , , , ...place]) => {
      const [left = 0, top = 0, width = 0, height = 0] = place.map(Number);
      return colourOf(sharp(sprite.bytes).extract({ left, top, width, height }));
    }),
  );
  expect(colours).toEqual(['red', 'green', 'blue', 'blue', 'blue']);
});

test('players of DASH and HLS find the same pictures', async () => {
  const { hls, dash } = urls as { hls: string; dash: string };
  expect((await checkServed({ hls, dash })).violations).toEqual([]);
  const manifest = (await bytesAt(dash)).bytes.toString();
  const [, set = ''] = /<AdaptationSet id="900"(.*?)<\/AdaptationSet>/s.exec(manifest) ?? [];
  expect(set).toContain('width="800" height="90"');
  expect(set).toContain('schemeIdUri="http://dashif.org/guidelines/thumbnail_tile" value="5x1"');
  expect(set).toContain('timescale="1" duration="10" startNumber="1" media="storyboard-$Number$.jpg"');
  const [, uri = ''] =
    /^#EXT-X-IMAGE-STREAM-INF:.*RESOLUTION=160x90,CODECS="jpeg",URI="(.+)"$/m.exec(
      (await bytesAt(hls)).bytes.toString(),
    ) ?? [];
  const playlist = new URL(uri, hls).href;
  const lines = (await bytesAt(playlist)).bytes.toString().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining(['#EXT-X-TILES:RESOLUTION=160x90,LAYOUT=5x1,DURATION=2', 'storyboard-1.jpg']),
  );
  const sprite = await bytesAt(new URL('storyboard-1.jpg', playlist).href);
  expect(await sharp(sprite.bytes).metadata()).toMatchObject({ width: 800, height: 90 });
});

test('the preview moves, and shows several places', async () => {
  const { answer, bytes } = await bytesAt(urls.preview);
  expect(answer.headers.get('content-type')).toBe('image/webp');
  const { pages = 0, width, pageHeight, delay = [] } = await sharp(bytes, { pages: -1 }).metadata();
  expect([width, pageHeight]).toEqual([480, 270]);
  const seconds = delay.reduce((total, ms) => total + ms, 0) / 1000;
  expect(seconds).toBeGreaterThan(3);
  expect(seconds).toBeLessThan(6);
  expect(await colourOf(sharp(bytes, { page: 0 }))).toBe('red');
  expect(await colourOf(sharp(bytes, { page: pages - 1 }))).toBe('blue');
});

const fieldOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as { error: { details: { field: unknown } } }).error.details.field;

async function tracksOf(bytes: Uint8Array) {
  const file = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const kinds = (await file.getTracks()).map(({ type }) => type).sort();
  return { kinds, seconds: await file.computeDuration() };
}

test('the MP4 has picture and sound, and starts to play before it is complete', async () => {
  const { answer, bytes } = await bytesAt(urls.mp4);
  expect(answer.headers.get('content-type')).toBe('video/mp4');
  const { kinds, seconds } = await tracksOf(bytes);
  expect(kinds).toEqual(['audio', 'video']);
  expect(seconds).toBeCloseTo(10, 0);
  expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  const part = await bytesAt(urls.mp4, { range: 'bytes=4-7' });
  expect([part.answer.status, part.bytes.toString()]).toEqual([206, 'ftyp']);
  const head = await fetch(urls.mp4 ?? '', { method: 'HEAD' });
  expect(head.headers.get('content-length')).toBe(String(bytes.length));
  const etag = answer.headers.get('etag') ?? '';
  expect((await fetch(urls.mp4 ?? '', { headers: { 'if-none-match': etag } })).status).toBe(304);
});

test('the sound is a file of its own, which browsers save under the requested name', async () => {
  const { answer, bytes } = await bytesAt(`${urls.audio}?download=${encodeURIComponent('Füße.m4a')}`);
  expect(answer.headers.get('content-type')).toBe('audio/mp4');
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="Fu_e.m4a"; filename*=UTF-8''F%C3%BC%C3%9Fe.m4a`,
  );
  expect((await tracksOf(bytes)).kinds).toEqual(['audio']);
  const unnamed = await fetch(`${urls.audio}?download=`);
  expect([unnamed.status, await fieldOf(unnamed)]).toEqual([400, 'download']);
});

test('a video without sound has no sound file, and its other files have fixed paths', async () => {
  const found = await eventually(
    () => urlsOf(shown.id),
    ({ mp4 }) => mp4 !== null,
  );
  expect(found).toMatchObject({ audio: null, mp4: `${service.url}/playback/${shown.id}/video.mp4` });
  expect((await bytesAt(found.mp4)).answer.status).toBe(200);
  expect((await fetch(`${service.url}/playback/${shown.id}/audio.m4a`)).status).toBe(404);
  expect((await fetch(`${service.url}/playback/${hidden.id}/video.mp4`)).status).toBe(404);
});

describe('the frame at a time', () => {
  const frameAt = (query: string, options: RequestInit = {}) => fetch(`${urls.frame}${query}`, options);
  const pictureAt = async (query: string) => {
    const answer = await frameAt(query);
    return sharp(await answer.arrayBuffer());
  };

  test('is the frame that plays then', async () => {
    const colours = [];
    for (const time of ['0', '1.9', '2', '3.9', '4', '10'])
      colours.push(await colourOf(await pictureAt(`?t=${time}&w=160`)));
    expect(colours).toEqual(['red', 'red', 'green', 'green', 'blue', 'blue']);
  });

  test('has the offered widths, and is never enlarged', async () => {
    expect(await (await pictureAt('?t=1&w=320')).metadata()).toMatchObject({ width: 320, height: 180 });
    expect(await (await pictureAt('?t=1&w=1920')).metadata()).toMatchObject({ width: 640, format: 'jpeg' });
    const odd = await frameAt('?t=1.04&w=300', { redirect: 'manual' });
    expect([odd.status, odd.headers.get('location')]).toEqual([302, 'frame.jpg?t=1&w=320']);
  });

  test.each([
    ['', 't'],
    ['?t=', 't'],
    ['?t=-1', 't'],
    ['?t=NaN', 't'],
    ['?t=1e999', 't'],
    ['?t=10.2', 't'],
    ['?t=1&w=0', 'w'],
    ['?t=1&w=5000', 'w'],
  ])('%j is refused with the name of the field', async (query, field) => {
    const answer = await frameAt(query);
    expect([answer.status, await fieldOf(answer)]).toEqual([400, field]);
  });

  test('is stored once, is served as other files, and goes with its video', async () => {
    const requests = Array.from({ length: 5 }, () => frameAt('?t=7.7&w=160'));
    const etags = (await Promise.all(requests)).map(({ status, headers }) => [status, headers.get('etag')]);
    expect(new Set(etags.map(String)).size).toBe(1);
    const [, etag] = etags[0] ?? [];
    const again = await frameAt('?t=7.7&w=160', { headers: { 'if-none-match': String(etag) } });
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'private, max-age=300']);
    expect(await filesNaming(service.dataDir, `frame-1-1-77-160`)).toHaveLength(1);
    expect((await fetch(`${service.url}/playback/${hidden.id}/frame.jpg?t=1`)).status).toBe(404);
  });

  test('a flood of requests for one video leaves the other videos their turn', async () => {
    const flood = Array.from({ length: 40 }, (_, index) => frameAt(`?t=${(41 + index) / 10}&w=480`));
    const other = await fetch(`${service.url}/playback/${shown.id}/frame.jpg?t=0.5&w=160`);
    expect(other.status).toBe(200);
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, headers } of refused)
      expect([status, headers.get('retry-after')]).toEqual([503, '2']);
  });
});

test('they are deleted with the video', async () => {
  await call(service, `DELETE /media/${hidden.id}`, { headers: asUser('ann') });
  expect((await fetch(urls.mp4 ?? '')).status).toBe(404);
  await eventually(
    () => filesNaming(service.dataDir, hidden.id),
    (files) => files.length === 0,
  );
});
