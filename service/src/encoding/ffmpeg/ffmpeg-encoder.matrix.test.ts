// Tests that every rendition and every picture of a video has the colours of its source.
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, ffmpegPaths, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm, type Film } from '../../../../test/support/clips/film.ts';
import { describeColours } from '../../../../test/support/clips/hdr-clips.ts';
import {
  type Colour,
  MATRICES,
  paintStripes,
  readCodes,
  toColour,
} from '../../../../test/support/clips/stripes.ts';
import { planPreview } from '../model/preview.ts';
import { planStoryboard } from '../model/storyboard.ts';
import { createExtra } from './ffmpeg-extras.ts';

/** The largest difference of a component to the source, of 255. */
const RENDITION_CODES = 3;
/** JPEG and WebP lose more, in tiles most. */
const PICTURE_CODES = 8;

const BARS: readonly Colour[] = [
  [0.75, 0, 0],
  [0, 0.75, 0],
  [0, 0, 0.75],
  [0.75, 0.5, 0.35],
  [0.5, 0.5, 0.5],
  [1, 1, 1],
];
/** Long enough for a copy of the video stream to be kept. */
const SIZE: ClipOptions = { seconds: 0.6, width: 854, height: 480, fps: 10, audio: false };
const H264 = ['-crf', '3'];
const HEVC = ['-c:v', 'libx265', '-x265-params', 'log-level=error:lossless=1'];
const SMPTE170M = tags('smpte170m', 'smpte170m');

function tags(primaries: string, matrix: string): readonly string[] {
  return ['-color_primaries', primaries, '-color_trc', primaries, '-colorspace', matrix];
}

const painted = (matrix: keyof typeof MATRICES, fullRange: boolean, more: readonly string[]) => [
  ...['-vf', paintStripes(BARS, { matrix: MATRICES[matrix], bits: 8, fullRange })],
  ...['-color_range', fullRange ? 'pc' : 'tv', ...more],
];
const HD: ClipOptions = { ...SIZE, width: 1280, height: 720 };

/** Source, its clip, and the matrix of the top rendition: a copy keeps that of the source. */
const SOURCES: readonly (readonly [string, ClipOptions, keyof typeof MATRICES])[] = [
  ['BT.709', { ...SIZE, more: painted('bt709', false, [...HEVC, ...tags('bt709', 'bt709')]) }, 'bt709'],
  [
    'BT.709, copied',
    { ...SIZE, more: painted('bt709', false, [...H264, ...tags('bt709', 'bt709')]) },
    'bt709',
  ],
  [
    'BT.709 in full range',
    { ...SIZE, more: painted('bt709', true, [...H264, ...tags('bt709', 'bt709')]) },
    'bt709',
  ],
  ['BT.601', { ...SIZE, more: painted('smpte170m', false, [...HEVC, ...SMPTE170M]) }, 'bt709'],
  ['BT.601, copied', { ...SIZE, more: painted('smpte170m', false, [...H264, ...SMPTE170M]) }, 'smpte170m'],
  [
    'BT.601 without primaries, copied',
    { ...SIZE, more: painted('smpte170m', false, [...H264, '-colorspace', 'smpte170m']) },
    'smpte170m',
  ],
  ['BT.601 in full range', { ...SIZE, more: painted('smpte170m', true, [...H264, ...SMPTE170M]) }, 'bt709'],
  ['SD without tags, copied', { ...SIZE, more: painted('smpte170m', false, H264) }, 'smpte170m'],
  ['HD without tags, copied', { ...HD, more: painted('bt709', false, H264) }, 'bt709'],
  [
    'VP8',
    { ...SIZE, container: 'webm', more: painted('smpte170m', false, ['-b:v', '20M', '-crf', '4']) },
    'bt709',
  ],
  [
    'MPEG-2',
    { ...SIZE, container: 'ts', more: painted('smpte170m', false, ['-c:v', 'mpeg2video', '-q:v', '1']) },
    'bt709',
  ],
];

const CONTAINERS = { webm: 'matroska', ts: 'mpegts', mp4: 'mov' } as const;
const source = ({ container = 'mp4' }: ClipOptions) => CONTAINERS[container as keyof typeof CONTAINERS];

/** The colours of a rendition as a player computes them from its tags. */
async function readRendition(path: string): Promise<readonly Colour[]> {
  const [tagged = ''] = await describeColours(path);
  const [, , matrix = ''] = tagged.split(' ');
  const codes = await readCodes(path, { count: BARS.length, bits: 8 });
  return codes.map((pixel) => toColour(pixel, MATRICES[matrix as keyof typeof MATRICES]));
}

async function readPicture(path: string): Promise<readonly Colour[]> {
  const { data, info } = await sharp(path).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return BARS.map((_, index) => {
    const column = Math.floor(((index + 0.5) * info.width) / BARS.length);
    const at = (Math.floor(info.height / 2) * info.width + column) * info.channels;
    return [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0];
  });
}

const differenceOf = (colours: readonly Colour[]): number =>
  Math.max(
    ...BARS.flatMap((bar, index) =>
      bar.map((part, at) => Math.abs(Math.round(255 * part) - (colours[index]?.[at] ?? 999))),
    ),
  );

/** Pictures that are made of a rendition, here of the top one, which may be the source's own stream. */
async function makePictures(film: Film, ffmpeg: string): Promise<readonly string[]> {
  const excerpt = film.path('excerpt-top.mp4');
  const files = ['r0-init.mp4', 'r0-00001.m4s'].map((name) => readFile(film.path(name)));
  await writeFile(excerpt, await Promise.all(files));
  const request = { excerpt, signal: new AbortController().signal };
  const plan = { ...planStoryboard({ width: 1280, height: 720, seconds: 0.6 }), columns: 1, rows: 1 };
  const output = (name: string) => film.path(name);
  const setup = { ffmpegPath: ffmpeg };
  await createExtra(setup, {
    kind: 'frame',
    ...request,
    output: output('frame.jpg'),
    seconds: 0.1,
    frameRate: 10,
    width: 960,
  });
  await createExtra(setup, { kind: 'storyboard', ...request, output: output('tile%d.jpg'), plan });
  await createExtra(setup, {
    kind: 'preview',
    ...request,
    output: output('preview.webp'),
    parts: planPreview(0.6),
    frameRate: 10,
  });
  return ['thumb.jpg', 'poster-100.jpg', 'frame.jpg', 'tile1.jpg', 'preview.webp'].map(output);
}

/** The other sources take the same filters. */
const OF_EACH_FFMPEG = ['BT.709 in full range', 'BT.601, copied'];
const sourcesOf = (index: number) =>
  index === 0 ? SOURCES : SOURCES.filter(([name]) => OF_EACH_FFMPEG.includes(name));
const ENGINES = ffmpegPaths().map((path, index) => [path, sourcesOf(index)] as const);

describe.each(ENGINES)('by %s', (ffmpeg, sources) => {
  describe.each(sources)('%s', (_, clip, topMatrix) => {
    let film: Film;
    beforeAll(async () => {
      film = await encodeFilm(await makeClip(clip), { ffmpeg, container: source(clip), posterTimeMs: 100 });
    });
    afterAll(() => film?.[Symbol.asyncDispose]());

    test('every rendition has the colours of the source', async () => {
      expect(film.renditions.length).toBeGreaterThanOrEqual(3);
      const differences = await Promise.all(
        film.renditions.map(async (_, id) => differenceOf(await readRendition(film.path(`r${id}.m3u8`)))),
      );
      expect(Math.max(...differences), differences.join(' ')).toBeLessThanOrEqual(RENDITION_CODES);
    });
    test('so has every picture', async () => {
      const pictures = await makePictures(film, ffmpeg);
      const differences = await Promise.all(
        pictures.map(async (path) => [basename(path), differenceOf(await readPicture(path))] as const),
      );
      expect(differences.filter(([, codes]) => codes > PICTURE_CODES)).toEqual([]);
    });
    test('the top rendition states its matrix', async () => {
      const [tagged = ''] = await describeColours(film.path('r0.m3u8'));
      expect(tagged.split(' ')[2]).toBe(topMatrix);
    });
  });
});
