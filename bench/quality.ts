// Quality and bit rate of each rendition, compared with the source and with Apple's authoring ladder.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFfmpegEncoder } from '../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import { DEFAULT_LADDER } from '../service/src/encoding/plan/ladder.ts';
import { playlistName } from '../service/src/encoding/packaging/cmaf-track.ts';
import { ffmpegPath } from '../test/support/clips.ts';
import { type Row, round } from './rows.ts';

const run = promisify(execFile);

const SIZE = { width: 1920, height: 1080 };
const FRAME_RATE = 30;
const SECONDS = 3;
/** VMAF looks at every tenth frame, because it takes longer than the encode. */
const SUBSAMPLE = 10;

/** H.264 at up to 30 frames per second in the HLS Authoring Specification for Apple Devices; 240: of 234. */
const APPLE_KILOBITS: Readonly<Record<number, number>> = { 1080: 6000, 720: 3000, 360: 365, 240: 145 };

/** A photo from the test data if it is there, else a fractal: both have fine detail. */
const PHOTO = 'image-valid/rails/activestorage/test/fixtures/files/racecar.jpg';
const PAN =
  `crop=${SIZE.width}:${SIZE.height}:x='(iw-${SIZE.width})/2*(1+sin(t*0.7))':` +
  `y='(ih-${SIZE.height})/2*(1+sin(t*0.5))'`;

type Clip = { readonly what: string; readonly input: readonly string[]; readonly filters: string };

function clips(): readonly Clip[] {
  const folder = process.env['MEDIARY_TEST_DATA'];
  const size = `${SIZE.width}x${SIZE.height}`;
  const detail: Clip = folder
    ? {
        what: 'pan over a photo',
        input: ['-loop', '1', '-framerate', String(FRAME_RATE), '-i', join(folder, PHOTO)],
        filters: PAN,
      }
    : {
        what: 'zoom into a fractal',
        input: ['-f', 'lavfi', '-i', `mandelbrot=s=${size}:r=${FRAME_RATE}`],
        filters: 'null',
      };
  const easy: Clip = {
    what: 'test card',
    input: ['-f', 'lavfi', '-i', `smptehdbars=s=${size}:r=${FRAME_RATE}`],
    filters: "drawbox=x='mod(t*200,iw)':y=100:w=200:h=200:c=white:t=fill",
  };
  return [detail, easy];
}

export async function quality(): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-quality-'));
  const rows: Row[] = [];
  for (const [index, clip] of clips().entries())
    rows.push(...(await rowsOf(clip, { ffmpegPath: ffmpegPath(), folder: join(folder, String(index)) })));
  await rm(folder, { recursive: true, force: true });
  return rows;
}

type Place = { readonly ffmpegPath: string; readonly folder: string };

async function rowsOf(clip: Clip, place: Place): Promise<Row[]> {
  const source = join(place.folder, 'source.mp4');
  const workFolder = join(place.folder, 'out');
  await mkdir(workFolder, { recursive: true });
  await makeSource(clip, place.ffmpegPath, source);
  const encoder = openFfmpegEncoder({
    ffmpegPath: place.ffmpegPath,
    ladder: { ...DEFAULT_LADDER, extraCodecs: ['av1'] },
  });
  const { renditions } = await encoder.encode({
    source,
    container: 'mov',
    workFolder,
    childFolder: '1-1',
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  const metric = await findMetric(place.ffmpegPath);
  const rows: Row[] = [];
  for (const [codec, firstId] of [
    [undefined, 0],
    ['av1', 100],
  ] as const) {
    const rungs: Rung[] = [];
    for (const [index, { height, bitrate }] of renditions.filter((each) => each.codec === codec).entries()) {
      const encoded = join(workFolder, playlistName(firstId + index));
      const score = await scoreOf(place.ffmpegPath, { metric, encoded, source });
      rungs.push({ height, kilobits: Math.round((bitrate ?? 0) / 1000), score });
    }
    rows.push(rowOf(`${clip.what}, ${codec?.toUpperCase() ?? 'H.264'}`, metric, rungs));
  }
  return rows;
}

type Rung = { readonly height: number; readonly kilobits: number; readonly score: number };

function rowOf(what: string, { name }: Metric, rungs: readonly Rung[]): Row {
  const [top] = rungs;
  if (!top) throw new Error('no renditions');
  const details = rungs.map(({ height, kilobits, score }) => {
    const apple = APPLE_KILOBITS[height];
    return `${height}p ${kilobits} kb/s${apple ? ` (Apple ${apple})` : ''} ${name} ${formatScore(score)}`;
  });
  const bits = top.kilobits / (APPLE_KILOBITS[top.height] ?? Number.NaN);
  return [
    `1080p30 of a ${what}`,
    'H.264 in the Apple authoring ladder',
    `${round(bits)} × bits; ${name} ${formatScore(top.score)}`,
    '≤ 1.00 × bits',
    details.join(', '),
  ];
}

/** VMAF goes up to 100, SSIM to 1. */
const formatScore = (score: number): string => score.toPrecision(3);

async function makeSource({ input, filters }: Clip, ffmpegPath: string, path: string): Promise<void> {
  await run(ffmpegPath, [
    ...['-nostdin', '-y', '-loglevel', 'error', ...input, '-t', String(SECONDS), '-vf', filters],
    ...['-c:v', 'libx264', '-preset', 'superfast', '-crf', '12', '-pix_fmt', 'yuv420p', path],
  ]);
}

type Metric = { readonly name: string; readonly filter: string; readonly result: RegExp };

const METRICS: readonly Metric[] = [
  { name: 'VMAF', filter: `libvmaf=n_threads=2:n_subsample=${SUBSAMPLE}`, result: /VMAF score: ([\d.]+)/ },
  { name: 'SSIM', filter: 'ssim', result: /SSIM .*All:([\d.]+)/ },
];

/** Distributions build ffmpeg without VMAF. */
async function findMetric(ffmpegPath: string): Promise<Metric> {
  const { stdout } = await run(ffmpegPath, ['-hide_banner', '-filters']);
  const metric = METRICS.find(({ filter }) => stdout.includes(` ${filter.split('=')[0]} `));
  if (!metric) throw new Error('this ffmpeg has neither libvmaf nor ssim');
  return metric;
}

type Comparison = { readonly metric: Metric; readonly encoded: string; readonly source: string };

/** As on a screen of 1080 lines. */
async function scoreOf(ffmpegPath: string, { metric, encoded, source }: Comparison): Promise<number> {
  const { stderr } = await run(ffmpegPath, [
    ...['-nostdin', '-hide_banner', '-i', encoded, '-i', source, '-lavfi'],
    `[0:v]scale=${SIZE.width}:${SIZE.height}:flags=bicubic[encoded];[encoded][1:v]${metric.filter}`,
    ...['-f', 'null', '-'],
  ]);
  const score = metric.result.exec(stderr)?.[1];
  if (score === undefined) throw new Error(`no ${metric.name}:\n${stderr.slice(-1000)}`);
  return Number(score);
}
