// Tests renditions in HDR beside those in SDR, by their pixels, metadata, times and manifests.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Parser } from 'm3u8-parser';
import { parse } from 'mpd-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDash } from '../../../../test/support/playback/check-dash.ts';
import { checkHls } from '../../../../test/support/playback/check-hls.ts';
import { TEST_DATA } from '../../../../test/support/clips/clips.ts';
import { encodeFilm, type Film, manifestsOf } from '../../../../test/support/clips/film.ts';
import {
  describeColours,
  HDR_CODING,
  makeHdrClip,
  MASTERING_DISPLAY,
} from '../../../../test/support/clips/hdr-clips.ts';
import { CLEAN, decode, keyframes, packets } from '../../../../test/support/clips/picture-and-sound.ts';
import { codesOf, type Colour, readCodes } from '../../../../test/support/clips/stripes.ts';
import { DEFAULT_LADDER, type Ladder } from '../plan/ladder/ladder.ts';

/** Signals of grey from black to the brightest, and saturated colours. */
const STRIPES: readonly Colour[] = [
  [0, 0, 0],
  [0.25, 0.25, 0.25],
  [0.58, 0.58, 0.58],
  [1, 1, 1],
  [0.6, 0, 0],
  [0, 0.6, 0],
  [0, 0, 0.6],
  [0.5, 0.4, 0.3],
];
/** Tolerance, of 1023 codes. */
const CODE = 6;

const ladder: Ladder = { ...DEFAULT_LADDER, hdrCodecs: ['av1', 'hevc'] };
const HDR_TRACKS = ['r300.m3u8', 'r301.m3u8', 'r400.m3u8', 'r401.m3u8'];
const SIZE = { seconds: 4.27, width: 640, height: 360 };

describe('a source in PQ', () => {
  let film: Film;
  const percents: number[] = [];
  beforeAll(async () => {
    const x265 = ['hdr10=1', `master-display=${MASTERING_DISPLAY}`, 'max-cll=1000,400'];
    const clip = await makeHdrClip({ range: 'pq', stripes: STRIPES, x265, ...SIZE });
    film = await encodeFilm(clip, { ladder, onProgress: (percent) => percents.push(percent) });
  });
  afterAll(() => film[Symbol.asyncDispose]());

  test('has all renditions in SDR, and then as many in HDR', () => {
    const ready = { state: 'ready', bitrate: expect.any(Number) };
    const sizes = [
      { width: 640, height: 360, ...ready },
      { width: 426, height: 240, ...ready },
    ];
    const named = (more: object) => sizes.map((size) => ({ ...size, ...more }));
    expect(film.renditions).toEqual([
      ...sizes,
      ...named({ codec: 'av1', dynamic_range: 'pq' }),
      ...named({ codec: 'hevc', dynamic_range: 'pq' }),
    ]);
    expect(film.warnings.map(({ code }) => code)).toEqual(['hdr']);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
  });
  test.each(HDR_TRACKS)('%s has the pixels of the source', async (name) => {
    const expected = codesOf(STRIPES, HDR_CODING);
    const codes = await readCodes(film.path(name), { count: STRIPES.length, bits: 10 });
    for (const [index, pixel] of expected.entries())
      for (const [component, code] of pixel.entries())
        expect(Math.abs((codes[index]?.[component] ?? Number.NaN) - code), `${pixel}`).toBeLessThanOrEqual(
          CODE,
        );
  });
  test.each(HDR_TRACKS)('%s has the colours and the metadata of the source', async (name) => {
    const [colours, display, light] = await describeColours(film.path(name));
    expect(colours).toBe('yuv420p10le tv bt2020nc bt2020 smpte2084');
    // AV1 codes luminance in powers of two.
    expect(display).toMatch(
      /r\(0\.68.*,0\.32.*g\(0\.265.*,0\.69.*b\(0\.15.* 0\.06.*min_luminance=0\.0050.*max_luminance=4000\.0/,
    );
    expect(light).toBe('MaxCLL=1000, MaxFALL=400');
  });
  test.each(['r0.m3u8', 'r1.m3u8'])('%s in SDR has no trace of HDR', async (name) => {
    expect(await describeColours(film.path(name))).toEqual(['yuv420p tv bt709 bt709 bt709']);
  });
  test('all renditions have the same frames at the same times', async () => {
    const timesOf = async (name: string) =>
      (await packets({ url: film.path(name), stream: 'v:0' })).map(({ at }) => at.toFixed(3)).toSorted();
    const times = await timesOf('r0.m3u8');
    expect(times).toHaveLength(128);
    for (const name of HDR_TRACKS) {
      expect(await timesOf(name), name).toEqual(times);
      expect(await keyframes({ url: film.path(name), stream: 'v:0' }), name).toEqual([0, 2]);
      expect(await decode(film.path(name)), name).toEqual(CLEAN);
    }
  });
  test('the init segments state the colours, and those of HEVC the metadata', async () => {
    const inits = await Promise.all(
      ['r300-init.mp4', 'r400-init.mp4'].map((name) => readFile(film.path(name))),
    );
    for (const init of inits) {
      const colr = init.subarray(init.indexOf('colrnclx') + 8);
      expect([0, 2, 4].map((at) => colr.readUInt16BE(at))).toEqual([9, 16, 9]);
    }
    const [, hevc = Buffer.alloc(0)] = inits;
    expect(hevc.includes('hvc1')).toBe(true);
    // SEI messages of type 144 (content light level) and 137 (mastering display), with their lengths.
    expect(hevc.includes(Buffer.from('4e01900403e80190', 'hex'))).toBe(true);
    expect(hevc.includes(Buffer.from('4e018918', 'hex'))).toBe(true);
  });
  test('has manifests without violations', async () => {
    const files = await manifestsOf(film);
    expect([...checkHls(files), ...checkDash(files)]).toEqual([]);
  });
  test('has playlists that another parser reads', async () => {
    const parser = new Parser();
    parser.push(await readFile(film.path('hls.m3u8'), 'utf8'));
    parser.end();
    const { playlists, iFramePlaylists } = parser.manifest;
    const describe = ({ uri, attributes }: (typeof playlists)[number]) => [
      uri,
      attributes['VIDEO-RANGE'],
      attributes['CODECS'],
    ];
    const av1 = expect.stringMatching(/^av01\.0\.\d\dM\.10\.0\.11\d\.09\.16\.09\.0,mp4a\.40\.2$/);
    const hevc = expect.stringMatching(/^hvc1\.2\.4\.L\d+\.[\dA-F.]+,mp4a\.40\.2$/);
    expect(playlists.map(describe)).toEqual([
      ['1-1/r0.m3u8', 'SDR', expect.stringMatching(/^avc1/)],
      ['1-1/r1.m3u8', 'SDR', expect.stringMatching(/^avc1/)],
      ['1-1/r300.m3u8', 'PQ', av1],
      ['1-1/r301.m3u8', 'PQ', av1],
      ['1-1/r400.m3u8', 'PQ', hevc],
      ['1-1/r401.m3u8', 'PQ', hevc],
    ]);
    expect(iFramePlaylists.map(({ attributes }) => attributes['VIDEO-RANGE'])).toEqual([
      'SDR',
      'SDR',
      'PQ',
      'PQ',
      'PQ',
      'PQ',
    ]);
  });
  test('has a DASH manifest that another parser reads', async () => {
    const text = await readFile(film.path('dash.mpd'), 'utf8');
    const { playlists } = parse(text, { manifestUri: 'http://localhost/dash.mpd' });
    expect(playlists.map(({ attributes }) => attributes['NAME'])).toEqual([
      '0',
      '1',
      '300',
      '301',
      '400',
      '401',
    ]);
  });
});

const summaryOf = async (film: Film) => ({
  renditions: film.renditions.map(({ codec, dynamic_range: range }) => [codec, range]),
  ranges: [...(await readFile(film.path('hls.m3u8'), 'utf8')).matchAll(/STREAM-INF.*VIDEO-RANGE=(\w+)/g)].map(
    ([, range]) => range,
  ),
});

describe('other sources', () => {
  const SHORT = { seconds: 0.4, width: 320, height: 180, audio: false };

  test('HLG stays HLG, without metadata where the source has none', async () => {
    const clip = await makeHdrClip({ range: 'hlg', stripes: STRIPES, ...SHORT });
    await using film = await encodeFilm(clip, { ladder });
    expect(await summaryOf(film)).toEqual({
      renditions: [
        [undefined, undefined],
        ['av1', 'hlg'],
        ['hevc', 'hlg'],
      ],
      ranges: ['SDR', 'HLG', 'HLG', 'SDR', 'HLG', 'HLG'],
    });
    for (const name of ['r300.m3u8', 'r400.m3u8'])
      expect(await describeColours(film.path(name))).toEqual(['yuv420p10le tv bt2020nc bt2020 arib-std-b67']);
    const manifest = await readFile(film.path('dash.mpd'), 'utf8');
    expect(manifest.match(/cicp:TransferCharacteristics" value="18"/g)).toHaveLength(2);
    const files = await manifestsOf(film);
    expect([...checkHls(files), ...checkDash(files)]).toEqual([]);
  });
  test.each([
    ['of 8 bits', { format: 'yuv420p' }],
    ['with the primaries of BT.709', { primaries: 'bt709' }],
  ])('PQ %s has renditions in SDR only', async (_, more) => {
    await using film = await encodeFilm(await makeHdrClip({ range: 'pq', ...SHORT, ...more }), { ladder });
    expect(await summaryOf(film)).toEqual({ renditions: [[undefined, undefined]], ranges: ['SDR', 'SDR'] });
  });
  test('without HDR_CODECS there is SDR only', async () => {
    await using film = await encodeFilm(await makeHdrClip({ range: 'pq', ...SHORT }));
    expect(await summaryOf(film)).toEqual({ renditions: [[undefined, undefined]], ranges: ['SDR', 'SDR'] });
  });
  test('a failure of HDR leaves the renditions in SDR, with a warning', async () => {
    const options = { ...ladder.options, hevc: { ...ladder.options.hevc, preset: 'no preset' } };
    const clip = await makeHdrClip({ range: 'pq', ...SHORT });
    await using film = await encodeFilm(clip, { ladder: { ...ladder, hdrCodecs: ['hevc'], options } });
    expect(film.warnings.at(-1)).toMatchObject({
      code: 'extra_codec_failed',
      message: expect.stringContaining('no HEVC PQ renditions'),
    });
    expect(film.renditions.map(({ state }) => state)).toEqual(['ready', 'failed']);
    expect((await summaryOf(film)).ranges).toEqual(['SDR', 'SDR']);
  });
  test.skipIf(!TEST_DATA)('the base layer of Dolby Vision by a phone stays HLG, upright', async () => {
    const path = 'video-samples/rails/activestorage/test/fixtures/files/rotated_hdr_video.mov';
    await using film = await encodeFilm(join(TEST_DATA ?? '', path), {
      ladder: { ...ladder, maxHeight: 360, hdrCodecs: ['hevc'] },
    });
    expect((await summaryOf(film)).ranges).toEqual(['SDR', 'SDR', 'HLG', 'HLG', 'SDR', 'SDR', 'HLG', 'HLG']);
    expect(await describeColours(film.path('r400.m3u8'))).toEqual([
      'yuv420p10le tv bt2020nc bt2020 arib-std-b67',
    ]);
    expect(film.renditions.at(-2)).toMatchObject({ width: 360, height: 640, dynamic_range: 'hlg' });
    expect(await decode(film.path('r400.m3u8'))).toEqual(CLEAN);
  });
});
