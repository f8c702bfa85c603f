// Closed captions in the video stream of a file: listed, played, replaced, and passed on to clips.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codes, type Pair, schedule, text, toTriplets } from '../../support/clips/caption-bytes.ts';
import { makeCaptionedClip } from '../../support/clips/captioned-clip.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { type PlaybackJson, playedCaptions, readText } from '../../support/playback/played-captions.ts';
import { checkServed } from '../../support/playback/served-manifests.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const popOn = (shown: string): Pair[] => [
  ...codes.RCL,
  ...codes.ENM,
  ...codes.ROW15,
  ...text(shown),
  ...codes.EOC,
];
const PROGRAMME = schedule({
  10: toTriplets(popOn('>> Hello there.')),
  60: toTriplets([...codes.RU2, ...codes.CR, ...text('Live from')]),
  90: toTriplets([...codes.CR, ...text('the studio.')]),
  // The second language of the programme.
  12: toTriplets(popOn('Hola.'), 1),
  120: [...toTriplets(codes.EDM), ...toTriplets(codes.EDM, 1)],
});

let service: TestService;
let video: AssetJson;
beforeAll(async () => {
  service = await startTestService();
  const file = await makeCaptionedClip({ programme: PROGRAMME, seconds: 6 });
  video = await ingest(service, 'ann', { file });
});
afterAll(() => service.stop());

type CaptionJson = { language: string; label: string; kind: string; source: string };

const headers = asUser('ann');
const listOf = async (id: string): Promise<CaptionJson[]> => {
  const answer = await call<{ items: CaptionJson[] }>(service, `GET /media/${id}/captions`, { headers });
  return expectSuccess(answer)['items'] as CaptionJson[];
};
const playbackOf = async (id: string): Promise<PlaybackJson> =>
  (await call<PlaybackJson>(service, `GET /media/${id}/playback`, { headers })).body.data;
const read = async (id: string, language: string): Promise<string> =>
  (await fetch(`${service.url}/media/${id}/captions/${language}`, { headers })).text();

test('are listed as captions of the video, which has no warning', async () => {
  expect(video).toMatchObject({ stream_status: 'ready', warnings: [] });
  expect(await listOf(video.id)).toMatchObject([
    { language: 'und', label: 'CC1', kind: 'captions', source: 'embedded', default: false },
    { language: 'und-x-cc3', label: 'CC3', kind: 'captions', source: 'embedded', default: false },
  ]);
});

test('have the text and the times of the programme', async () => {
  const head = 'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n';
  const cues = (await read(video.id, 'und')).split('\n\n').map((cue) => cue.trimEnd());
  expect(`${cues[0]}\n`).toBe(head);
  expect(cues.slice(1)).toEqual([
    '00:00:00.800 --> 00:00:02.000\n&gt;&gt; Hello there.',
    '00:00:02.133 --> 00:00:03.000\nLive from',
    '00:00:03.000 --> 00:00:04.000\nLive from\nthe studio.',
  ]);
  expect(await read(video.id, 'und-x-cc3')).toContain('\nHola.\n');
});

test('play through both manifests, which offer no others', async () => {
  const playback = await playbackOf(video.id);
  expect(await checkServed(playback)).toEqual({ violations: [], captions: 2 });
  const { inHls, inDash } = await playedCaptions(playback);
  expect(inHls['und']).toBe(await read(video.id, 'und'));
  expect(inHls['und-x-cc3']).toContain('Hola.');
  expect(inDash).toEqual(inHls);
  const variants = (await readText(playback.hls)).match(/^#EXT-X-STREAM-INF:.*$/gm) ?? [];
  expect(variants.length).toBeGreaterThan(0);
  for (const variant of variants) expect(variant).toContain('CLOSED-CAPTIONS=NONE');
});

test('come with a clip of the video', async () => {
  const answer = await call<{ asset_id: string }>(service, `POST /media/${video.id}/clip`, {
    headers,
    json: { start_ms: 1000, end_ms: 3500 },
  });
  const id = String(expectSuccess(answer)['id']);
  const clip = await eventually(
    async () => (await call<AssetJson>(service, `GET /media/${id}`, { headers })).body.data,
    ({ stream_status: status }) => status === 'ready' || status === 'failed',
  );
  expect(clip.stream_status).toBe('ready');
  expect(await listOf(id)).toMatchObject([{ language: 'und', kind: 'captions', source: 'embedded' }]);
  expect(await read(id, 'und')).toContain('00:00:00.000 --> 00:00:01.000\n&gt;&gt; Hello there.');
});

test('are replaced by those of a caller, or deleted', async () => {
  const answer = await call<CaptionJson>(service, `PUT /media/${video.id}/captions/und-X-CC3?label=Spanish`, {
    headers: { ...headers, 'content-type': 'text/vtt' },
    body: 'WEBVTT\n\n00:00.000 --> 00:01.000\nBuenas\n',
  });
  expect(expectSuccess(answer)).toMatchObject({ language: 'und-x-cc3', label: 'Spanish', source: 'caller' });
  expect(await listOf(video.id)).toHaveLength(2);
  expectSuccess(await call(service, `DELETE /media/${video.id}/captions/und`, { headers }));
  expect(await listOf(video.id)).toMatchObject([{ language: 'und-x-cc3' }]);
});
