// Tests the motion of encoded videos: number, times and order of their frames.
import { describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../../../test/support/clips/clips.ts';
import { type Film, encodeFilm } from '../../../../test/support/clips/film.ts';
import { beeps, brightness, flashes, packets } from '../../../../test/support/clips/picture-and-sound.ts';

const SMALL: ClipOptions = { seconds: 1, width: 160, height: 90, audio: false };
const ENTIRE: ClipOptions['more'] = ['-qp', '12', '-bf', '0'];

/** The picture gets brighter by `step` codes in each frame of the clip. */
const ramp = (step: number) => `geq=lum='20+${step}*N':cb=128:cr=128`;

const videoOf = (film: Film) => ({ url: film.path('r0.m3u8'), stream: 'v:0' });
const timesOf = async (film: Film) =>
  (await packets(videoOf(film))).map(({ at }) => at).toSorted((a, b) => a - b);

describe('high frame rates', () => {
  test.each([
    ['120', 60, 1],
    ['100', 50, 1],
    ['120000/1001', 60, 1001 / 1000],
  ])('%s frames per second become %i frames in equal steps', async (rate, frames, seconds) => {
    const filter = `${ramp(1.5)},settb=1/240000,setpts=N/(${rate}*TB)`;
    const more = ['-vf', filter, '-r', rate, '-frames:v', String(2 * frames), ...ENTIRE];
    await using film = await encodeFilm(
      await makeClip({ ...SMALL, fps: Number.parseInt(rate, 10), seconds: 2, more }),
    );
    const times = await timesOf(film);
    expect(times).toHaveLength(frames);
    expect(times.at(-1)).toBeCloseTo((seconds * (frames - 1)) / frames, 3);
    expect(film.durationMs).toBe(Math.round(1000 * seconds));
    expect(Math.max(...stepsOf(await brightness(videoOf(film))))).toBeLessThan(4.5);
  });
  test('a variable rate of up to 60 stays 60', async () => {
    const more = ['-vf', "select='mod(n,4)-2'", '-fps_mode', 'vfr', ...ENTIRE];
    await using film = await encodeFilm(await makeClip({ ...SMALL, fps: 60, more }));
    expect(film.warnings.map(({ code }) => code)).toContain('variable_frame_rate');
    expect(await timesOf(film)).toHaveLength(60);
  });
  test('halving keeps the sound in sync', async () => {
    await using film = await encodeFilm(
      await makeClip({ ...SMALL, seconds: 3, fps: 120, audio: true, flashAndBeep: true }),
    );
    const [seen, heard] = [
      await flashes(videoOf(film)),
      await beeps({ url: film.path('r1.m3u8'), stream: 'a:0' }),
    ];
    expect(seen).toHaveLength(3);
    for (const [index, flash] of seen.entries()) expect(heard[index]).toBeCloseTo(flash, 1);
  });
});

describe('interlaced video', () => {
  test.each([
    ['top', '50', 50],
    ['bottom', '50', 50],
    ['top', '60000/1001', 60],
  ])('with the %s field first, at %s fields per second', async (first, rate, fields) => {
    const mode = `interleave_${first}`;
    const filter = `settb=1/240000,setpts=N/(${rate}*TB),fps=${rate},${ramp(3)},tinterlace=mode=${mode}`;
    const more = ['-vf', filter, '-frames:v', String(fields / 2), '-flags', '+ildct+ilme', ...ENTIRE];
    const clip = { ...SMALL, height: 96, fps: fields, seconds: 2, more };
    await using film = await encodeFilm(await makeClip(clip));
    expect(film.warnings.map(({ code }) => code)).toContain('interlaced');
    const levels = await brightness(videoOf(film));
    expect(levels).toHaveLength(fields);
    // Fields in the wrong order would darken every second frame.
    expect(Math.min(...stepsOf(levels))).toBeGreaterThan(0);
  });
});

/** Differences between the brightness of neighbouring frames. */
const stepsOf = (levels: readonly number[]): number[] =>
  levels.slice(1).map((level, index) => level - (levels[index] ?? 0));
