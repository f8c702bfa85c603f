// Tests the encoder with real videos, which ffmpeg plays back through the manifests.
import { access, readFile, readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../../../test/support/clips/clips.ts';
import { checkDash } from '../../../../test/support/playback/check-dash.ts';
import { checkHls } from '../../../../test/support/playback/check-hls.ts';
import { makeCornersClip, readCorners, uprightCorners } from '../../../../test/support/clips/corners.ts';
import { type Film, encodeFilm, manifestsOf } from '../../../../test/support/clips/film.ts';
import {
  CLEAN,
  beeps,
  decode,
  endOf,
  flashes,
  keyframes,
  packets,
} from '../../../../test/support/clips/picture-and-sound.ts';
import type { Rendition } from '../../assets/renditions.ts';

const SYNC_SECONDS = 0.04;
/** Not copied into the ladder, because few players show 4:2:2. */
const FLASHES: ClipOptions = {
  seconds: 6,
  width: 640,
  height: 360,
  flashAndBeep: true,
  more: ['-pix_fmt', 'yuv422p'],
};
const SMALL: ClipOptions = { seconds: 6, flashAndBeep: true };

async function withFilm(clip: ClipOptions, look: (film: Film) => Promise<void>): Promise<void> {
  await using film = await encodeFilm(await makeClip(clip));
  await look(film);
}

/** Seconds between each beep and the flash that belongs to it. */
async function delays(film: Film): Promise<number[]> {
  const [seen, heard] = [await seenIn(film), await heardIn(film)];
  return heard.map((beep) => Math.min(...seen.map((flash) => Math.abs(flash - beep))));
}
const seenIn = (film: Film) => flashes({ url: film.path('hls.m3u8'), stream: 'v:0' });
const heardIn = (film: Film) => beeps({ url: film.path('hls.m3u8'), stream: 'a:0' });
const videoTrack = (film: Film, name: string) => ({ url: film.path(name), stream: 'v:0' });
const audioTrack = (film: Film, name: string) => ({ url: film.path(name), stream: 'a:0' });

async function listedSeconds(film: Film, name: string): Promise<number> {
  const lengths = [...(await readFile(film.path(name), 'utf8')).matchAll(/^#EXTINF:([\d.]+),/gm)].map(
    ([, seconds]) => Number(seconds),
  );
  return lengths.reduce((total, seconds) => total + seconds, 0);
}

describe('a video with audio', () => {
  let film: Film;
  const reported: [number, readonly Rendition[]][] = [];
  beforeAll(async () => {
    film = await encodeFilm(await makeClip(FLASHES), {
      onProgress: (...progress) => reported.push(progress),
    });
  });
  afterAll(() => film[Symbol.asyncDispose]());

  test('is described', () => {
    expect(film).toMatchObject({ width: 640, height: 360, durationMs: 6000 });
    expect(film.renditions).toEqual([
      { width: 640, height: 360, state: 'ready', bitrate: expect.any(Number) },
      { width: 426, height: 240, state: 'ready', bitrate: expect.any(Number) },
    ]);
  });
  test('brings every file that its manifests name, under names that can be stored', async () => {
    const names = film.files.map(({ name }) => name);
    const named = await Promise.all(
      ['r0.m3u8', 'r1.m3u8', 'r2.m3u8'].map((name) => readFile(film.path(name), 'utf8')),
    );
    const children = named.join('\n').match(/r\d[\w-]*\.(?:m4s|mp4)/g) ?? [];
    expect(names).toEqual(expect.arrayContaining(['index.json', 'thumb.jpg', ...children]));
    expect(names.filter((name) => !/^[a-z0-9][a-z0-9_-]{0,60}\.[a-z0-9]{1,8}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    await Promise.all(film.files.map(({ path }) => access(path)));
  });
  test('has manifests without violations', async () => {
    const files = await manifestsOf(film);
    expect([...checkHls(files), ...checkDash(files)]).toEqual([]);
  });
  test.each(['hls.m3u8', 'r0.m3u8', 'r1.m3u8', 'r2.m3u8'])(
    'plays from %s without a complaint',
    async (name) => {
      expect(await decode(film.path(name))).toEqual(CLEAN);
    },
  );
  test('every rung has its key frames at the same times, two seconds apart', async () => {
    expect(await keyframes(videoTrack(film, 'r0.m3u8'))).toEqual([0, 2, 4]);
    expect(await keyframes(videoTrack(film, 'r1.m3u8'))).toEqual([0, 2, 4]);
  });
  test('every track and its playlist have the duration of the source', async () => {
    for (const track of [
      videoTrack(film, 'r0.m3u8'),
      videoTrack(film, 'r1.m3u8'),
      audioTrack(film, 'r2.m3u8'),
    ]) {
      expect(Math.abs((await endOf(track)) - 6)).toBeLessThanOrEqual(0.1);
    }
    for (const name of ['r0.m3u8', 'r1.m3u8', 'r2.m3u8'])
      expect(Math.abs((await listedSeconds(film, name)) - 6)).toBeLessThanOrEqual(0.1);
  });
  test('audio and video are synchronous', async () => {
    expect(await seenIn(film)).toHaveLength(6);
    expect(await heardIn(film)).toHaveLength(6);
    expect(Math.max(...(await delays(film)))).toBeLessThanOrEqual(SYNC_SECONDS);
  });
  test('has a thumbnail', async () => {
    expect((await readFile(film.path('thumb.jpg'))).subarray(0, 3).toString('hex')).toBe('ffd8ff');
  });
  test('progress is rising, below 100 %, and names all rungs', () => {
    const percents = reported.map(([percent]) => percent);
    expect(percents[0]).toBe(0);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(percents.at(-1)).toBeLessThan(100);
    expect(reported[0]?.[1]).toEqual([
      { width: 640, height: 360, state: 'queued', bitrate: null },
      { width: 426, height: 240, state: 'encoding', bitrate: null },
    ]);
  });
});

describe('unusual videos', () => {
  test('without audio: no audio track, no audio group', () =>
    withFilm({ audio: false }, async (film) => {
      expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
      const multivariant = await readFile(film.path('hls.m3u8'), 'utf8');
      expect(multivariant.match(/r\d+\.m3u8/g)).toEqual(['r0.m3u8']);
      expect(multivariant).not.toContain('AUDIO');
    }));
  test.each([
    [90, { width: 180, height: 320 }],
    [180, { width: 320, height: 180 }],
    [270, { width: 180, height: 320 }],
  ] as const)('rotated by %d degrees: encoded upright', async (rotation, size) => {
    await using film = await encodeFilm(await makeCornersClip(rotation));
    expect(film).toMatchObject({ ...size, renditions: [size] });
    expect(await readCorners(film.path('hls.m3u8'))).toEqual(uprightCorners(rotation));
    expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
  });
  test('audio longer than video: the last frame is repeated, all audio is kept', () =>
    withFilm({ ...SMALL, more: ['-vf', 'trim=end=2.5'] }, async (film) => {
      expect(film.durationMs).toBe(6000);
      expect(await endOf(videoTrack(film, 'r0.m3u8'))).toBeCloseTo(6, 1);
      expect(await endOf(audioTrack(film, 'r1.m3u8'))).toBeCloseTo(6, 1);
      expect(await heardIn(film)).toHaveLength(6);
      expect(await seenIn(film)).toHaveLength(3);
    }));
  test('video longer than audio: silence to the end', () =>
    withFilm({ ...SMALL, more: ['-af', 'atrim=end=2.5'] }, async (film) => {
      expect(await endOf(videoTrack(film, 'r0.m3u8'))).toBeCloseTo(6, 1);
      expect(await endOf(audioTrack(film, 'r1.m3u8'))).toBeCloseTo(6, 1);
      expect(await heardIn(film)).toHaveLength(3);
    }));
  test('late audio stays late', () =>
    withFilm({ ...SMALL, more: ['-bsf:a', 'setts=ts=TS+1/TB'] }, async (film) => {
      expect((await heardIn(film))[0]).toBeCloseTo(1, 1);
      expect(Math.max(...(await delays(film)).slice(0, 5))).toBeLessThanOrEqual(SYNC_SECONDS);
    }));
  test('late video: the first frame is shown from the beginning', () =>
    withFilm({ ...SMALL, more: ['-bsf:v', 'setts=ts=TS+1/TB'] }, async (film) => {
      expect((await packets(videoTrack(film, 'r0.m3u8')))[0]?.at).toBe(0);
      expect(await seenIn(film)).toEqual([0, 2, 3, 4, 5, 6]); // The first frame is the first flash.
      expect(await endOf(videoTrack(film, 'r0.m3u8'))).toBeCloseTo(7, 1);
    }));
  test.each([
    ['mkv', 'matroska'],
    ['webm', 'matroska'],
    ['ts', 'mpegts'],
  ] as const)('%s: in sync, and as long as it was', async (container, demuxer) => {
    await using film = await encodeFilm(await makeClip({ ...SMALL, seconds: 3, container }), {
      container: demuxer,
    });
    expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
    expect(Math.abs(film.durationMs - 3000)).toBeLessThanOrEqual(100);
    expect(Math.max(...(await delays(film)))).toBeLessThanOrEqual(SYNC_SECONDS);
  });
  test('one frame', () =>
    withFilm({ seconds: 0.04, fps: 25, audio: false }, async (film) => {
      expect(film.durationMs).toBe(40);
      expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
    }));
});

test('an order that is called off leaves no process behind', async () => {
  const controller = new AbortController();
  const source = await makeClip({ seconds: 30, width: 1280, height: 720, audio: false });
  const onProgress = (percent: number) => {
    if (percent > 0) controller.abort(new Error('called off'));
  };
  await expect(encodeFilm(source, { signal: controller.signal, onProgress })).rejects.toThrow('called off');
  expect(await enginesReading(source)).toEqual([]);
});

async function enginesReading(source: string): Promise<string[]> {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')),
  );
  return commands.filter((command) => command.includes(`file:${source}`));
}
