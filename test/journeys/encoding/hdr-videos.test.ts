// Videos in HDR, where the operator keeps it: the asset names the renditions, and every player finds its own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeHdrClip, MASTERING_DISPLAY, describeColours } from '../../support/clips/hdr-clips.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest } from '../../support/media.ts';
import { CLEAN, decode, playlistsOf } from '../../support/clips/picture-and-sound.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ HDR_CODECS: 'hevc', EXTRA_CODECS: 'av1' });
});
afterAll(() => service.stop());

type Rendition = { height: number; codec: string | null; dynamic_range: string | null; state: string };
const setsOf = (asset: AssetJson) =>
  (asset['renditions'] as Rendition[]).map(({ height, codec, dynamic_range: range, state }) =>
    [height, codec ?? 'h264', range ?? 'sdr', state].join(' '),
  );

describe('a video in PQ', () => {
  let asset: AssetJson;
  let hls: string;
  beforeAll(async () => {
    const x265 = ['hdr10=1', `master-display=${MASTERING_DISPLAY}`, 'max-cll=1000,400'];
    const file = await makeHdrClip({ range: 'pq', seconds: 9, width: 640, height: 360, x265 });
    asset = await ingest(service, 'ann', { file, fields: { visibility: 'public' } });
    hls = (asset['playback'] as { hls: string }).hls;
  });

  test('has its renditions in SDR before those in HDR', () => {
    expect(asset).toMatchObject({
      stream_status: 'ready',
      progress: 100,
      media: { video: { codec: 'hevc', hdr: true, bit_depth: 10 } },
    });
    expect(setsOf(asset)).toEqual([
      '360 h264 sdr ready',
      '240 h264 sdr ready',
      '360 av1 sdr ready',
      '240 av1 sdr ready',
      '360 hevc pq ready',
      '240 hevc pq ready',
    ]);
  });
  test('plays in SDR before its renditions in HDR are made', () => {
    expect(Date.parse(String(asset['playable_at']))).toBeLessThan(Date.parse(String(asset['ready_at'])));
  });
  test('tells players the range of every variant', async () => {
    const text = await (await fetch(hls)).text();
    expect([...text.matchAll(/^#EXT-X-STREAM-INF:.*VIDEO-RANGE=(\w+)/gm)].map(([, range]) => range)).toEqual([
      'SDR',
      'SDR',
      'SDR',
      'SDR',
      'PQ',
      'PQ',
    ]);
  });
  test('decodes in every variant, with the metadata of the source in HDR', async () => {
    const { pictures } = await playlistsOf(hls);
    for (const picture of pictures) expect(await decode(picture)).toEqual(CLEAN);
    expect(await describeColours(pictures.at(-1) ?? '')).toEqual([
      'yuv420p10le tv bt2020nc bt2020 smpte2084',
      expect.stringContaining('max_luminance=4000.000000'),
      'MaxCLL=1000, MaxFALL=400',
    ]);
    expect(await describeColours(pictures[0] ?? '')).toEqual(['yuv420p tv bt709 bt709 bt709']);
  });
});

test('a video in SDR has no renditions in HDR', async () => {
  const asset = await ingest(service, 'ann', { file: await makeClip() });
  expect(setsOf(asset)).toEqual(['180 h264 sdr ready', '180 av1 sdr ready']);
});
