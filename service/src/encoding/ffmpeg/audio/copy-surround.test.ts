// Tests that surround sound of the source reaches players as it is, beside AAC.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, ffmpegPath, makeClip } from '../../../../../test/support/clips/clips.ts';
import { encodeFilm, type Film, manifestsOf } from '../../../../../test/support/clips/film.ts';
import { beeps, CLEAN, decode, packets, tones } from '../../../../../test/support/clips/picture-and-sound.ts';
import { checkDash } from '../../../../../test/support/playback/check-dash.ts';
import { checkHls } from '../../../../../test/support/playback/check-hls.ts';
import { isSound } from '../../model/cmaf-track.ts';
import { DEFAULT_LADDER } from '../../plan/ladder/ladder.ts';

const SECONDS = 9;
const LADDER = { ...DEFAULT_LADDER, audioPassthrough: ['eac3', 'ac3'] as const };

const surround = (codec: string, options: ClipOptions = {}) =>
  makeClip({
    seconds: SECONDS,
    width: 160,
    height: 90,
    ...options,
    more: [
      '-filter_complex',
      'sine=440:sample_rate=48000,asplit=6[a][b][c][d][e][f];' +
        '[a][b][c][d][e][f]join=inputs=6:channel_layout=5.1[s]',
      ...['-map', '0:v', '-map', '[s]', '-c:a', codec, '-b:a', '384k'],
      ...(options.more ?? []),
    ],
  });

/** The checksum of each packet, without its time. */
async function soundOf(url: string): Promise<readonly string[]> {
  const args = ['-loglevel', 'error', '-i', url, '-map', '0:a:0', '-c', 'copy', '-f', 'framecrc', '-'];
  const { stdout } = await promisify(execFile)(ffmpegPath(), args, { maxBuffer: 16 * 1024 ** 2 });
  return stdout
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(',').slice(4, 6).join());
}

const soundsIn = ({ index }: Film) =>
  index.tracks.filter(isSound).map(({ id, codec, audio }) => [id, codec, audio.channels]);

describe.each([
  ['eac3', 'ec-3', 'mp4', 'mov'],
  ['eac3', 'ec-3', 'mkv', 'matroska'],
  ['ac3', 'ac-3', 'mov', 'mov'],
] as const)('%s', (...[codec, name, container, demuxer]) => {
  let source: string;
  let film: Film;
  beforeAll(async () => {
    source = await surround(codec, { container });
    film = await encodeFilm(source, { ladder: LADDER, container: demuxer });
  }, 60_000);
  afterAll(() => film[Symbol.asyncDispose]());

  test(`in ${container} is a third rendition of its track`, async () => {
    expect(soundsIn(film)).toEqual([
      [1, 'mp4a.40.2', 2],
      [2, 'mp4a.40.2', 6],
      [500, name, 6],
    ]);
    expect(film.warnings.map(({ code }) => code)).toEqual(['surround_audio']);
    const files = await manifestsOf(film);
    expect([...checkHls(files), ...checkDash(files)]).toEqual([]);
    expect(files.multivariant).toMatch(
      RegExp(`STREAM-INF:.*CODECS="avc1\\.[0-9a-f]{6},${name}",.*AUDIO="audio-${name}"`),
    );
    expect(files.manifest).toContain(`codecs="${name}"`);
  });
  test(`in ${container} has the packets of the source, from its start`, async () => {
    const copy = { url: film.path('r500.m3u8'), stream: 'a:0' };
    const [copied, original] = [await soundOf(copy.url), await soundOf(source)];
    expect(copied).toEqual(original.slice(0, copied.length));
    expect(original.length - copied.length).toBeLessThanOrEqual(1);
    expect((await packets(copy))[0]?.at).toBeCloseTo(0, 2);
    expect(await decode(copy.url)).toEqual(CLEAN);
    for (const hertz of (await tones(copy)).slice(0, 3)) expect(Math.abs(hertz - 440)).toBeLessThan(22);
  });
});

test('in MPEG-TS is in time with the encoded sound, wherever its packets start', async () => {
  const source = await makeClip({
    ...{ seconds: 4.6, width: 160, height: 90, container: 'ts', flashAndBeep: true },
    more: [
      '-filter_complex',
      '[1:a]asplit=6[a][b][c][d][e][f];[a][b][c][d][e][f]join=inputs=6:channel_layout=5.1[s]',
      ...['-map', '0:v', '-map', '[s]', '-c:a', 'ac3', '-b:a', '384k'],
      // Not a whole number of samples.
      ...['-bsf:a', 'setts=ts=TS+9009/90000/TB'],
    ],
  });
  await using film = await encodeFilm(source, { ladder: LADDER, container: 'mpegts' });
  const encoded = await beeps({ url: film.path('r1.m3u8'), stream: 'a:0' });
  const copied = await beeps({ url: film.path('r500.m3u8'), stream: 'a:0' });
  expect(encoded).toHaveLength(5);
  expect(copied).toEqual(encoded.map((at) => expect.closeTo(at, 1)));
}, 60_000);

test('without the setting, and in stereo, the sound is encoded only', async () => {
  await using plain = await encodeFilm(await surround('eac3'));
  await using stereo = await encodeFilm(await surround('eac3', { more: ['-ac', '2'] }), { ladder: LADDER });
  expect(soundsIn(plain).map(([id]) => id)).toEqual([1, 2]);
  expect(soundsIn(stereo).map(([id]) => id)).toEqual([1]);
  expect([...plain.warnings, ...stereo.warnings].map(({ code }) => code)).not.toContain(
    'surround_not_copied',
  );
}, 60_000);

test.each([
  ['starts later', ['-bsf:a', 'setts=ts=TS+1/TB'], 'it does not start with the picture'],
  ['ends earlier', ['-bsf:a', "noise=drop='gt(pts*tb,5)'"], 'it does not last as long as the picture'],
])(
  'sound that %s than the picture is encoded only, with a warning',
  async (_, more, reason) => {
    await using film = await encodeFilm(await surround('eac3', { more }), { ladder: LADDER });
    expect(soundsIn(film).map(([id]) => id)).toEqual([1, 2]);
    expect(film.warnings.find(({ code }) => code === 'surround_not_copied')?.message).toContain(reason);
    expect((await readFile(film.path('hls.m3u8'), 'utf8')).includes('ec-3')).toBe(false);
  },
  60_000,
);
