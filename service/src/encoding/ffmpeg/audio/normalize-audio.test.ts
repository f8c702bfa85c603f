// Measures the loudness of encoded sound, by the meter of EBU R128, where the service has a target for it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip, NOT_COPYABLE } from '../../../../../test/support/clips/clips.ts';
import { encodeFilm, type Film } from '../../../../../test/support/clips/film.ts';
import { CLEAN, decode, endOf, loudness } from '../../../../../test/support/clips/picture-and-sound.ts';
import { makeSound } from '../../../../../test/support/clips/sounds.ts';
import { isSound } from '../../model/cmaf-track.ts';
import { encodeSound } from '../../../../../test/support/clips/encoded-sound.ts';

const TARGET = { lufs: -16, maxPeakDbtp: -1 };

/** Pink noise whose loudness swells as that of speech does; 1 is near full scale. */
const speech = (amplitude: number) =>
  `anoisesrc=color=pink:seed=7:r=48000:a=${amplitude},volume='0.1+0.9*pow(abs(sin(t*3)),4)':eval=frame`;

/** A clip with these sounds, each of the first as a track of its own. */
const clip = (sounds: readonly string[], options: ClipOptions = {}) =>
  makeClip({
    seconds: 9,
    width: 160,
    height: 90,
    ...options,
    more: [
      ...(options.more ?? []),
      '-filter_complex',
      sounds.map((sound, index) => `${sound}[s${index}]`).join(';'),
      ...['-map', '0:v'],
      ...sounds.flatMap((_, index) => ['-map', `[s${index}]`]),
      ...['-c:a', 'pcm_s16le', '-f', 'mov'],
    ],
  });

const soundsOf = ({ index, path }: Film) =>
  index.tracks.filter(isSound).map(({ id }) => ({ url: path(`r${id}.m3u8`), stream: 'a:0' }));
const levelsOf = (film: Film) => Promise.all(soundsOf(film).map(loudness));

/** Within 1 LU of the target, below the limit of peaks. */
function expectTarget(level: { lufs: number; peakDbtp: number } | undefined, target = TARGET): void {
  expect(Math.abs((level?.lufs ?? 0) - target.lufs)).toBeLessThanOrEqual(1);
  expect(level?.peakDbtp).toBeLessThanOrEqual(target.maxPeakDbtp);
}

describe.each([
  ['copied', {}],
  ['encoded', { more: NOT_COPYABLE }],
  ['encoded in chunks', { more: NOT_COPYABLE, chunkSeconds: 4 }],
] as const)(
  'a video that is %s',
  (_, { chunkSeconds, ...options }: ClipOptions & { chunkSeconds?: number }) => {
    let film: Film;
    beforeAll(async () => {
      const source = await clip([speech(0.3)], options);
      film = await encodeFilm(source, { loudness: TARGET, ...(chunkSeconds && { chunkSeconds }) });
    }, 60_000);
    afterAll(() => film[Symbol.asyncDispose]());

    test('has the target loudness, and its media tells the gain', async () => {
      const [level] = await levelsOf(film);
      expectTarget(level);
      const [facts] = film.audio;
      expect(facts?.loudness_lufs).toBeLessThan(-26);
      expect(facts?.gain_db).toBeGreaterThan(10);
    });
    test('plays cleanly to its end', async () => {
      expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
      expect(await endOf(soundsOf(film)[0] as { url: string; stream: string })).toBeCloseTo(9, 1);
    });
  },
);

test('loud sound is lowered, and high peaks are limited', async () => {
  const loud = { lufs: -23, maxPeakDbtp: -1 };
  await using lowered = await encodeFilm(await clip([speech(1)]), { loudness: loud });
  expectTarget((await levelsOf(lowered))[0], loud);
  expect(lowered.audio[0]?.gain_db).toBeLessThan(0);
  const close = { lufs: -14, maxPeakDbtp: -3 };
  await using limited = await encodeFilm(await clip([speech(1)]), { loudness: close });
  const [level] = await levelsOf(limited);
  expectTarget(level, close);
  // Without the limiter the peak would be above the limit.
  const { true_peak_dbtp: peak, gain_db: gain } = limited.audio[0] ?? {};
  expect((peak ?? 0) + (gain ?? 0)).toBeGreaterThan(close.maxPeakDbtp);
}, 60_000);

test('every track has a gain of its own, and so have stereo and 5.1 of one', async () => {
  const surround = [
    `${speech(0.4)},asplit=6[a][b][c][d][e][f]`,
    '[a][b][c][d][e][f]join=inputs=6:channel_layout=5.1',
  ].join(';');
  await using film = await encodeFilm(await clip([surround, speech(0.2)]), { loudness: TARGET });
  expect(film.index.tracks.filter(isSound).map(({ audio }) => audio.channels)).toEqual([2, 2, 6]);
  for (const level of await levelsOf(film)) expectTarget(level);
  const [first, second] = film.audio.map(({ gain_db }) => gain_db ?? 0);
  expect(second).toBeGreaterThan((first ?? 0) + 3);
}, 60_000);

test.each([
  ['silence', 'anullsrc=r=48000'],
  ['noise of a room', 'anoisesrc=color=pink:r=48000:a=0.005'],
  ['a click', "aevalsrc='0.1*sin(2*PI*900*t)*lt(t,0.05)':s=48000:d=0.1"],
])(
  '%s is not raised',
  async (_, sound) => {
    const source = await clip([sound], { seconds: 2 });
    await using film = await encodeFilm(source, { loudness: TARGET });
    expect(film.audio[0]?.gain_db).toBeNull();
    await using plain = await encodeFilm(source);
    expect(await levelsOf(film)).toEqual(await levelsOf(plain));
  },
  60_000,
);

test('without a target, the sound is as loud as the original', async () => {
  await using film = await encodeFilm(await clip([speech(0.3)]));
  const [level] = await levelsOf(film);
  expect(film.audio[0]).toMatchObject({ gain_db: null });
  expect(Math.abs((level?.lufs ?? 0) - (film.audio[0]?.loudness_lufs ?? 0))).toBeLessThan(1);
}, 60_000);

test.each([
  ['m4a', 'mov'],
  ['ogg', 'ogg'],
] as const)('an audio asset in %s, whose waveform is as loud', async (format, container) => {
  const source = await makeSound({ seconds: 3, container: format });
  const [changed, plain] = [
    await encodeSound(source, container, { loudness: { lufs: -20, maxPeakDbtp: -1 } }),
    await encodeSound(source, container),
  ];
  const gain = changed.audio[0]?.gain_db ?? 0;
  expect(gain).toBeCloseTo(-20 - (plain.audio[0]?.loudness_lufs ?? 0), 1);
  expectTarget(await loudness({ url: changed.path('r0.m3u8'), stream: 'a:0' }), {
    lufs: -20,
    maxPeakDbtp: -1,
  });
  const factor = 10 ** (gain / 20);
  expect(Math.abs((await changed.highest()) - factor * (await plain.highest()))).toBeLessThan(3);
});
