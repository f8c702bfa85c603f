// Quality and bit rate of each rendition, against an encode of the same size at Apple's bit rate.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFfmpegEncoder } from '../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import { encodeWhole } from '../test/support/whole-encode.ts';
import { playlistName } from '../service/src/encoding/packaging/cmaf-track.ts';
import { ffmpegPath } from '../test/support/clips.ts';
import { type Row, round } from './rows.ts';

const run = promisify(execFile);
const FFMPEG = ffmpegPath();

const SIZE = { width: 1920, height: 1080 };
const FRAME_RATE = 30;
const SECONDS = 4;
const SEGMENT_FRAMES = 4 * FRAME_RATE;

/**
 * kbit/s of H.264 at 30 frames per second: "HLS Authoring Specification for Apple Devices", video average
 * bit rates. Its sizes 234, 432 and 1080 (the lower of two) stand for 240, 480 and 1080.
 */
const APPLE_KILOBITS: Readonly<Record<number, number>> = {
  240: 145,
  360: 365,
  480: 1100,
  720: 3000,
  1080: 6000,
};

/** Nobody sees more than this, so a rendition above it may be worse than Apple's. */
const TRANSPARENT: Readonly<Record<MetricName, number>> = { VMAF: 93, SSIM: 0.98 };

/** A photo from the collected files, where they are given. */
const PHOTO = 'image-valid/rails/activestorage/test/fixtures/files/racecar.jpg';
const PAN =
  `crop=${SIZE.width}:${SIZE.height}:x='(iw-${SIZE.width})/2*(1+sin(t*0.7))':` +
  `y='(ih-${SIZE.height})/2*(1+sin(t*0.5))'`;

type Clip = { readonly what: string; readonly input: readonly string[]; readonly filters: string };

const generated = (what: string, filter: string, filters = 'null'): Clip => ({
  what,
  input: ['-f', 'lavfi', '-i', `${filter}=s=${SIZE.width}x${SIZE.height}:r=${FRAME_RATE}`],
  filters,
});

function clips(): readonly Clip[] {
  const folder = process.env['MEDIARY_TEST_DATA'];
  const slides = generated(
    'test card with a moving box',
    'smptehdbars',
    "drawbox=x='mod(t*200,iw)':y=100:w=200:h=200:c=white:t=fill",
  );
  if (!folder) return [generated('zoom into a fractal', 'mandelbrot'), slides];
  const photo = ['-loop', '1', '-framerate', String(FRAME_RATE), '-i', join(folder, PHOTO)];
  return [
    { what: 'pan over a photo', input: photo, filters: PAN },
    { what: 'pan over a photo with film grain', input: photo, filters: `${PAN},noise=alls=8:allf=t` },
    slides,
  ];
}

export async function quality(): Promise<readonly Row[]> {
  const metric = await findMetric();
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-quality-'));
  try {
    const rows: Row[] = [];
    for (const [index, clip] of clips().entries())
      rows.push(...(await rowsOf(clip, metric, join(folder, String(index)))));
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function rowsOf(clip: Clip, metric: Metric, folder: string): Promise<Row[]> {
  const source = join(folder, 'source.mp4');
  const workFolder = join(folder, 'out');
  await mkdir(workFolder, { recursive: true });
  await makeSource(clip, source);
  const { renditions } = await encodeWhole(openFfmpegEncoder({ ffmpegPath: FFMPEG }), {
    source,
    container: 'matroska',
    workFolder,
    childFolder: '1-1',
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  const rows: Row[] = [];
  for (const [id, { width = 0, height = 0, bitrate }] of renditions.entries()) {
    const apple = await encodeAsApple(source, { width, height, folder });
    const scoreOf = (encoded: string) => measure(metric, { encoded, source, width, height });
    const ours = { bits: bitrate ?? 0, score: await scoreOf(join(workFolder, playlistName(id))) };
    const pair = { ours, apple: { ...apple, score: await scoreOf(apple.path) } };
    rows.push(rowOf(`${height}p of a ${clip.what}`, metric, pair));
  }
  return rows;
}

type Encoded = { readonly bits: number; readonly score: number };

type Pair = { readonly ours: Encoded; readonly apple: Encoded };

function rowOf(what: string, { name, digits }: Metric, { ours, apple }: Pair): Row {
  const least = Math.min(TRANSPARENT[name], apple.score).toFixed(digits);
  const sideOf = ({ bits, score }: Encoded) =>
    `${Math.round(bits / 1000)} kbit/s ${name} ${score.toFixed(digits)}`;
  return [
    what,
    "x264 at the bit rate of Apple's ladder",
    `${round(ours.bits / apple.bits)} × bits; ${name} ${ours.score.toFixed(digits)}`,
    `${name} ≥ ${least}`,
    `${sideOf(ours)} to ${sideOf(apple)}`,
  ];
}

/** Almost without loss, in 4:2:2, which is never copied. */
async function makeSource({ input, filters }: Clip, path: string): Promise<void> {
  await run(FFMPEG, [
    ...['-nostdin', '-y', '-loglevel', 'error', ...input, '-t', String(SECONDS), '-vf', filters],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'superfast',
      '-crf',
      '8',
      '-pix_fmt',
      'yuv422p',
      '-f',
      'matroska',
      path,
    ],
  ]);
}

/** The same encoder and preset as the service, with the bit rate that Apple names instead of a quality. */
async function encodeAsApple(source: string, { width, height, folder }: Size & { folder: string }) {
  const kilobits = APPLE_KILOBITS[height];
  if (kilobits === undefined) throw new Error(`Apple's ladder has nothing like ${height}p`);
  const path = join(folder, `apple-${height}.mp4`);
  await run(FFMPEG, [
    ...['-nostdin', '-y', '-loglevel', 'error', '-i', source],
    ...['-vf', `scale=${width}:${height}:flags=bicubic`, '-pix_fmt', 'yuv420p'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-g', String(SEGMENT_FRAMES)],
    ...['-b:v', `${kilobits}k`, '-maxrate', `${2 * kilobits}k`, '-bufsize', `${2 * kilobits}k`, path],
  ]);
  return { path, bits: kilobits * 1000 };
}

type MetricName = 'VMAF' | 'SSIM';
type Metric = {
  readonly name: MetricName;
  readonly filter: string;
  readonly result: RegExp;
  readonly digits: number;
};

/** VMAF goes up to 100, SSIM to 1. VMAF takes longer than the encode, so it looks at every tenth frame. */
const METRICS: readonly Metric[] = [
  {
    name: 'VMAF',
    filter: 'libvmaf=n_threads=2:n_subsample=10',
    result: /VMAF score: ([\d.]+)/,
    digits: 1,
  },
  { name: 'SSIM', filter: 'ssim', result: /SSIM .*All:([\d.]+)/, digits: 3 },
];

/** Distributions build ffmpeg without VMAF. */
async function findMetric(): Promise<Metric> {
  const { stdout } = await run(FFMPEG, ['-hide_banner', '-filters']);
  const metric = METRICS.find(({ filter }) => stdout.includes(` ${filter.split('=')[0]} `));
  if (!metric) throw new Error('this ffmpeg has neither libvmaf nor ssim');
  return metric;
}

type Size = { readonly width: number; readonly height: number };
type Comparison = Size & { readonly encoded: string; readonly source: string };

/** Frames are paired by their numbers: their times are rounded differently in each container. */
const BY_NUMBER = `settb=1/${FRAME_RATE},setpts=N`;

/** At the size of the rendition: how much the encode lost, not the scaling. */
async function measure(metric: Metric, { encoded, source, width, height }: Comparison): Promise<number> {
  const toRendition = `scale=${width}:${height}:flags=bicubic,format=yuv420p`;
  const { stderr } = await run(FFMPEG, [
    ...['-nostdin', '-hide_banner', '-i', encoded, '-i', source, '-lavfi'],
    `[0:v]${BY_NUMBER}[encoded];[1:v]${toRendition},${BY_NUMBER}[original];` +
      `[encoded][original]${metric.filter}`,
    ...['-f', 'null', '-'],
  ]);
  const score = metric.result.exec(stderr)?.[1];
  if (score === undefined) throw new Error(`no ${metric.name}:\n${stderr.slice(-1000)}`);
  return Number(score);
}
