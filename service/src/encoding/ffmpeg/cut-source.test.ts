// Tests cuts by frames that tell their number, and by flashes and beeps at the same instant.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, ffmpegPath, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm } from '../../../../test/support/clips/film.ts';
import { EXACT, NUMBERED, numbersIn } from '../../../../test/support/clips/numbered-film.ts';
import {
  beeps,
  brightness,
  CLEAN,
  decode,
  endOf,
  flashes,
  tones,
} from '../../../../test/support/clips/picture-and-sound.ts';
import type { Container } from '@mediary/media-rules/video-facts';
import { EncodeError, type CutRequest } from '../encoder.ts';
import { openFfmpegEncoder } from './ffmpeg-encoder.ts';

const CONTAINERS: readonly (readonly [
  NonNullable<ClipOptions['container']>,
  Container,
  readonly string[],
])[] = [
  ['mp4', 'mov', EXACT.h264],
  ['mkv', 'matroska', EXACT.h264],
  ['webm', 'matroska', EXACT.vp8],
  ['ts', 'mpegts', EXACT.h264],
  ['avi', 'avi', EXACT.mpeg4],
];

const NOT_SUBSAMPLED = ['-pix_fmt', 'yuv444p'];

type CutFile = AsyncDisposable & { readonly path: string; readonly droppedSubtitles: readonly string[] };

async function cut(
  source: string,
  [startMs, endMs]: readonly [number, number],
  request: Partial<CutRequest> = {},
): Promise<CutFile> {
  const folder = await openFolder();
  try {
    const made = await openFfmpegEncoder({ ffmpegPath: ffmpegPath() }).cut({
      source,
      container: 'mov',
      workFolder: folder.path,
      startMs,
      endMs,
      maxBytes: 2 ** 30,
      signal: new AbortController().signal,
      ...request,
    });
    return { ...made, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

const pictureOf = ({ path }: { path: string }) => ({ url: path, stream: 'v:0' });
const soundOf = ({ path }: { path: string }, index = 0) => ({ url: path, stream: `a:${index}` });
describe.each(CONTAINERS)('a cut of %s', (container, demuxer, more) => {
  let source: string;
  /** The numbers of the frames as players of the source see them. */
  let played: readonly number[];
  beforeAll(async () => {
    source = await makeClip({ ...NUMBERED, container, more: [...NUMBERED.more, ...more] });
    await using film = await encodeFilm(source, { container: demuxer });
    played = await numbersIn({ url: film.path('r0.m3u8'), stream: 'v:0' });
  });

  test('starts and ends with the frames that were asked for, between key frames', async () => {
    await using made = await cut(source, [3480, 5000], { container: demuxer });
    expect(await numbersIn(pictureOf(made))).toEqual(played.slice(87, 125));
    expect(await decode(made.path)).toEqual(CLEAN);
    await using film = await encodeFilm(made.path);
    expect(film.durationMs).toBe(1520);
    expect(await numbersIn({ url: film.path('r0.m3u8'), stream: 'v:0' })).toEqual(played.slice(87, 125));
    expect(await endOf({ url: film.path('r1.m3u8'), stream: 'a:0' })).toBeCloseTo(1.52, 1);
  });

  test('from the beginning to the end has all frames, and no warnings', async () => {
    await using made = await cut(source, [0, 60_000], { container: demuxer });
    expect(await numbersIn(pictureOf(made))).toEqual(played);
    await using film = await encodeFilm(made.path);
    expect(film.warnings).toEqual([]);
  });
});

describe('sound', () => {
  test.each([
    ['mp4', 'mov'],
    ['webm', 'matroska'],
    ['ts', 'mpegts'],
  ] as const)('of %s stays in sync, in the renditions too', async (container, demuxer) => {
    const source = await makeClip({ seconds: 6, flashAndBeep: true, container });
    await using made = await cut(source, [1500, 4500], { container: demuxer });
    const [seen, heard] = [await flashes(pictureOf(made)), await beeps(soundOf(made))];
    expect(seen).toEqual([0.5, 1.5, 2.5].map((at) => expect.closeTo(at, 1)));
    expect(heard).toEqual(seen.map((at) => expect.closeTo(at, 1)));
    await using film = await encodeFilm(made.path);
    const played = await beeps({ url: film.path('r1.m3u8'), stream: 'a:0' });
    expect(played).toEqual(seen.map((at) => expect.closeTo(at, 1)));
  });

  test('starts with the frame that is on screen', async () => {
    const source = await makeClip({ seconds: 5, fps: 2, flashAndBeep: true });
    await using made = await cut(source, [700, 3200]);
    expect((await flashes(pictureOf(made)))[0]).toBe(0.5);
    expect(await beeps(soundOf(made))).toEqual([0.5, 1.5].map((at) => expect.closeTo(at, 1)));
  });

  test('has all tracks with their languages and purposes', async () => {
    const source = await makeClip({
      seconds: 4,
      container: 'mkv',
      more: [
        ...['-filter_complex', 'sine=440:sample_rate=48000[a];sine=880:sample_rate=48000[b]'],
        ...['-map', '0:v', '-map', '[a]', '-map', '[b]'],
        ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=ger'],
        ...[
          '-metadata:s:a:1',
          'title=Kommentar',
          '-disposition:a:0',
          'default',
          '-disposition:a:1',
          'comment',
        ],
      ],
    });
    await using made = await cut(source, [1000, 3000], { container: 'matroska' });
    expect((await tones(soundOf(made)))[0]).toBeGreaterThan(420);
    expect((await tones(soundOf(made, 1)))[0]).toBeGreaterThan(850);
    await using film = await encodeFilm(made.path);
    const playlist = await readFile(film.path('hls.m3u8'), 'utf8');
    expect(playlist).toMatch(/NAME="English",.*LANGUAGE="en"/);
    expect(playlist).toMatch(/LANGUAGE="de",DEFAULT=NO,AUTOSELECT=NO/);
  });
});

describe('text subtitles', () => {
  const CUES = [
    ['00:00:00,000 --> 00:00:00,500', 'before the part'],
    ['00:00:00,800 --> 00:00:01,500', 'first'],
    ['00:00:02,500 --> 00:00:04,000', 'last'],
    ['00:00:03,500 --> 00:00:04,000', 'after the part'],
  ];

  test('are cut where they are shown at the start or the end, and do not lengthen the video', async () => {
    await using folder = await openFolder();
    const [cues, source, workFolder] = ['cues.srt', 'film.mkv', 'work'].map((name) =>
      join(folder.path, name),
    ) as [string, string, string];
    await writeFile(cues, CUES.map(([time, text], index) => `${index}\n${time}\n${text}\n\n`).join(''));
    await promisify(execFile)(ffmpegPath(), [
      ...[
        '-loglevel',
        'error',
        '-i',
        await makeClip({ seconds: 4, audio: false }),
        '-i',
        cues,
        '-map',
        '0',
        '-map',
        '1',
      ],
      ...['-c', 'copy', '-c:s', 'srt', '-metadata:s:s:0', 'language=ger', source],
    ]);
    await using made = await cut(source, [1000, 3000], { container: 'matroska' });
    await mkdir(workFolder);
    const { signal } = new AbortController();
    const request = { source: made.path, container: 'mov', workFolder, signal } as const;
    const [found, ...others] = await openFfmpegEncoder({ ffmpegPath: ffmpegPath() }).extractSubtitles(
      request,
    );
    expect(others).toEqual([]);
    expect(found?.language).toBe('de');
    expect(new TextDecoder().decode(found?.bytes)).toBe(
      'WEBVTT\n\n00:00.000 --> 00:00.500\nfirst\n\n00:01.500 --> 00:02.000\nlast\n',
    );
    expect(made.droppedSubtitles).toEqual([]);
    await using film = await encodeFilm(made.path);
    expect(film.durationMs).toBe(2000);
  });
});

describe('the picture', () => {
  test('of a turned video is upright, of an odd size even', async () => {
    const source = await makeClip({
      seconds: 2,
      width: 321,
      height: 181,
      rotation: 90,
      more: NOT_SUBSAMPLED,
    });
    await using made = await cut(source, [500, 1500]);
    await using film = await encodeFilm(made.path);
    expect([film.width, film.height]).toEqual([180, 320]);
    expect(film.warnings).toEqual([]);
  });

  test('of a video in high dynamic range keeps its bits and colours', async () => {
    const source = await makeClip({
      seconds: 2,
      audio: false,
      container: 'mkv',
      more: [
        ...['-pix_fmt', 'yuv420p10le', '-color_primaries', 'bt2020', '-color_trc', 'smpte2084'],
        ...['-colorspace', 'bt2020nc', '-x264-params', 'colorprim=bt2020:transfer=smpte2084'],
      ],
    });
    await using made = await cut(source, [500, 1500], { container: 'matroska' });
    await using film = await encodeFilm(made.path);
    expect(film.video).toMatchObject({ hdr: true, bit_depth: 10 });
  });

  test('at the start is the one that is on screen then, also in a film of still pictures', async () => {
    const slides = await makeClip({
      seconds: 6,
      fps: 25,
      more: ['-vf', "geq=lum='20+1*N':cb=128:cr=128,select='not(mod(n,50))'", '-fps_mode', 'vfr'],
    });
    await using made = await cut(slides, [1500, 3500]);
    const shown = await brightness(pictureOf(made));
    expect(shown[0]).toBeCloseTo(20, -1);
    expect(shown.at(-1)).toBeCloseTo(70, -1);
  });
});

describe('a cut that cannot be made', () => {
  test('starts after the end of the source', async () => {
    const failed = cut(await makeClip({ seconds: 1 }), [5000, 6000]);
    await expect(failed).rejects.toMatchObject({ code: 'clip_failed' });
    await expect(failed).rejects.toBeInstanceOf(EncodeError);
  });
});

async function openFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'mediary-cut-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
