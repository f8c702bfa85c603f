// A video plays before its encode has ended: manifests grow until the last segment is there.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClipOptions, makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { type AssetJson, offer, readAsset, settled } from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { checkServed } from '../../support/playback/served-manifests.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';

const USER = 'ann';
let service: TestService;
/** Encodes as slowly as a video plays. */
let slowService: TestService;
beforeAll(async () => {
  [service, slowService] = await Promise.all([
    startTestService(),
    startTestService({ FFMPEG_PATH: await pacedEngine() }),
  ]);
});
afterAll(() => Promise.all([service.stop(), slowService.stop()]));

type Playback = { hls: string; dash: string; thumbnail: string | null };
const textOf = async (url: string): Promise<string> => {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return response.text();
};
/** The entries of a media playlist, without its head and end. */
const segmentsOf = (playlist: string): string =>
  playlist.slice(playlist.indexOf('#EXTINF')).replace('#EXT-X-ENDLIST\n', '');
/** Codecs, size and playlist of each variant of a pathway, in the order of the playlist. */
const variantsOf = (multivariant: string, pathway?: string): string[] =>
  [...multivariant.matchAll(/^#EXT-X-STREAM-INF:(.+)\n(.+)$/gm)]
    .filter(([, list]) => /PATHWAY-ID="(\w+)"/.exec(list ?? '')?.[1] === pathway)
    .map(([, list = '', uri]) => `${/CODECS="[^"]+"(?:,RESOLUTION=\d+x\d+)?/.exec(list)?.[0]} ${uri}`);
/** Of the variants with pictures. */
const bandwidthsOf = (multivariant: string): number[] =>
  [...multivariant.matchAll(/^#EXT-X-STREAM-INF:BANDWIDTH=(\d+).*,RESOLUTION=/gm)].map(([, bits]) =>
    Number(bits),
  );
const childOf = (multivariant: string): string => /^[^#].*$/m.exec(multivariant)?.[0] ?? '';

/** The asset and its URLs at the moment when it becomes playable. */
async function uploadUntilPlayable(
  clip: ClipOptions,
  fields: object,
  at = service,
): Promise<{ id: string; playback: Playback }> {
  const { id } = await offer(at, USER, { bytes: await readFile(await makeClip(clip)), fields });
  const playback = await eventually(
    async () => (await call<Playback>(at, `GET /media/${id}/playback`, { headers: asUser(USER) })).body.data,
    ({ hls }) => hls !== null,
  );
  return { id, playback };
}

const eventTypes = async (at: TestService, id: string): Promise<string[]> =>
  (
    await call<{ items: { type: string }[] }>(at, `GET /media/${id}/timeline`, {
      headers: asUser(USER),
    })
  ).body.data.items.map(({ type }) => type);

const stateOf = ({ renditions }: AssetJson, height: number) =>
  (renditions as { height: number; state: string }[]).find((each) => each.height === height)?.state;

test('a file that must be encoded plays in its lowest rendition while the others are made', async () => {
  const { id, playback } = await uploadUntilPlayable(
    { seconds: 10, width: 640, height: 360, container: 'webm' },
    { mime_type: 'video/webm', filename: 'a.webm' },
    slowService,
  );
  const asset = await readAsset(slowService, USER, id);
  expect(asset).toMatchObject({ stream_status: 'processing', width: 640, height: 360, ready_at: null });
  expect(asset['playable_at']).not.toBeNull();
  expect(asset['media']).toMatchObject({ container: 'matroska', video: { codec: 'vp8' } });
  expect(stateOf(asset, 360)).not.toBe('ready');
  expect(playback.thumbnail).toBeNull();
  const captions = await call(slowService, `PUT /media/${id}/captions/en`, {
    headers: { ...asUser(USER), 'content-type': 'text/vtt' },
    body: 'WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n',
  });
  expect(captions.status).toBe(200);
  expect(await checkServed(playback, 'growing')).toEqual({ violations: [], captions: 1 });
  const first = await textOf(playback.hls);
  const child = childOf(first);
  const steering = new URL(`steering-${child.slice(0, child.lastIndexOf('/'))}.json`, playback.hls).href;
  expect(JSON.parse(await textOf(steering))).toMatchObject({ 'PATHWAY-PRIORITY': ['early'] });
  const early = await textOf(new URL(child, playback.hls).href);
  expect(early).toContain('#EXT-X-PLAYLIST-TYPE:EVENT\n');
  expect(early).not.toContain('#EXT-X-ENDLIST');
  const earlyDash = new URL(`early-${child.slice(0, child.lastIndexOf('/'))}.mpd`, playback.dash).href;
  expect(await textOf(earlyDash)).toContain('<MPD');

  const ready = await settled(slowService, USER, id);
  expect(ready).toMatchObject({ stream_status: 'ready', playable_at: asset['playable_at'] });
  expect((await eventTypes(slowService, id)).filter((type) => type === 'asset.playable')).toHaveLength(1);
  const complete = await textOf(new URL(child.replace('-early', ''), playback.hls).href);
  expect(complete).toMatch(/#EXT-X-PLAYLIST-TYPE:VOD\n[\s\S]*#EXT-X-ENDLIST/);
  expect(complete).toContain(segmentsOf(early));
  const ofEarly = () => textOf(new URL(child, playback.hls).href);
  expect(await eventually(ofEarly, (text) => text.includes('#EXT-X-ENDLIST'))).toBe(complete);
  expect(await textOf(earlyDash)).toContain('type="static"');
  const last = await textOf(playback.hls);
  expect(variantsOf(last).length).toBeGreaterThan(1);
  expect(variantsOf(first, 'full').map((variant) => variant.replace('-early', ''))).toEqual(variantsOf(last));
  // The lowest rendition is listed twice: it is the first and the last.
  const [, ...announced] = bandwidthsOf(first);
  for (const [at, bits] of bandwidthsOf(last).slice(0, -1).entries())
    expect(bits).toBeLessThanOrEqual(announced[at] ?? 0);
  expect(JSON.parse(await textOf(steering))).toMatchObject({ 'PATHWAY-PRIORITY': ['full', 'early'] });
  expect(await checkServed(playback)).toEqual({ violations: [], captions: 1 });
  expect(await decode(earlyDash)).toEqual(CLEAN);
  // ffmpeg warns of captions in HLS, which it does not read.
  await call(slowService, `DELETE /media/${id}/captions/en`, { headers: asUser(USER) });
  expect(await decode(playback.hls)).toEqual(CLEAN);
});

test('a short file plays before its encode has ended, too', async () => {
  const { id, playback } = await uploadUntilPlayable(
    { seconds: 4, width: 640, height: 360, container: 'webm' },
    { mime_type: 'video/webm', filename: 'short.webm' },
    slowService,
  );
  expect(await readAsset(slowService, USER, id)).toMatchObject({ stream_status: 'processing' });
  expect(await textOf(new URL(childOf(await textOf(playback.hls)), playback.hls).href)).toContain('#EXTINF');
  const { playable_at: playableAt, ready_at: readyAt } = await settled(slowService, USER, id);
  expect(Date.parse(String(playableAt))).toBeLessThan(Date.parse(String(readyAt)));
});

test('an H.264 file plays from a copy of its own video stream', async () => {
  const { id, playback } = await uploadUntilPlayable(
    { seconds: 12, width: 1280, height: 720, more: ['-g', '60', '-b:v', '1500k'] },
    {},
  );
  const asset = await readAsset(service, USER, id);
  expect(asset['stream_status']).toBe('processing');
  expect(await textOf(playback.hls)).toContain('RESOLUTION=1280x720');
  const ready = await settled(service, USER, id);
  expect(stateOf(ready, 720)).toBe('ready');
  expect(await decode(playback.hls)).toEqual(CLEAN);
});

test('a copy that does not fit the ladder is replaced, but plays on for early viewers', async () => {
  const { id, playback } = await uploadUntilPlayable(
    { seconds: 16, width: 640, height: 360, more: ['-g', '400', '-keyint_min', '400'] },
    {},
  );
  const child = new URL(childOf(await textOf(playback.hls)), playback.hls).href;
  expect(await settled(service, USER, id)).toMatchObject({ stream_status: 'ready' });
  const last = childOf(await textOf(playback.hls));
  expect(new URL(last, playback.hls).href).not.toBe(child);
  expect(await decode(child)).toEqual(CLEAN);
  expect(await decode(playback.hls)).toEqual(CLEAN);
});

test('what was playable is withdrawn when the encode is cancelled', async () => {
  const { id, playback } = await uploadUntilPlayable(
    { seconds: 16, width: 1280, height: 720, container: 'webm', fps: 60 },
    { mime_type: 'video/webm', filename: 'b.webm' },
  );
  const cancelled = await call(service, `POST /admin/encodes/${id}/cancel`, {
    headers: asOperator,
  });
  expect(cancelled.status).toBe(200);
  expect(await readAsset(service, USER, id)).toMatchObject({
    stream_status: 'failed',
    playback: null,
    playable_at: null,
  });
  expect((await fetch(playback.hls)).status).toBe(404);
});
