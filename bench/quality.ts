// Quality of each rendition, against two passes of x264 with the same bits, at its own size and on a screen.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openFfmpegEncoder } from '../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import { encodeWhole } from '../test/support/encoding/whole-encode.ts';
import { playlistName } from '../service/src/encoding/model/cmaf-track.ts';
import { ffmpegPath } from '../test/support/clips/clips.ts';
import type { Row } from './rows.ts';

const run = promisify(execFile);
const FFMPEG = ffmpegPath();

const SIZE = { width: 1920, height: 1080 };
const FRAME_RATE = 30;
const SECONDS = 4;
const SEGMENT_FRAMES = 4 * FRAME_RATE;

/** A rendition may lose this much more than the reference: nobody sees it. */
const TOLERANCE: Readonly<Record<MetricName, number>> = { VMAF: 1, SSIM: 0.005 };

/** A photo from the collected files, where they are given. */
const PHOTO = 'image-valid/rails/activestorage/test/fixtures/files/racecar.jpg';
const PAN =
  `crop=${SIZE.width}:${SIZE.height}:x='(iw-${SIZE.width})/2*(1+sin(t*0.7))':` +
  `y='(ih-${SIZE.height})/2*(1+sin(t*0.5))'`;

/** Every 1.3 seconds another part of the photo, in other colours. */
const CUTS =
  `crop=${SIZE.width}:${SIZE.height}:x='mod(613*floor(t/1.3)+40*t,iw-${SIZE.width})':` +
  `y='mod(389*floor(t/1.3)+20*t,ih-${SIZE.height})',hue=h='80*floor(t/1.3)'`;

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
    { what: 'photo with a cut every 1.3 s', input: photo, filters: CUTS },
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
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  const rows: Row[] = [];
  for (const [id, { width = 0, height = 0, bitrate: measured }] of renditions.entries()) {
    const bitrate = measured ?? 0;
    const reference = await encodeReference(source, { width, height, bitrate, folder });
    const scoreOf = async (encoded: string): Promise<Score> => ({
      own: await measure(metric, { encoded, source, size: { width, height } }),
      screen: await measure(metric, { encoded, source, size: SIZE }),
    });
    const ours = await scoreOf(join(workFolder, playlistName(id)));
    const pair = { ours, reference: await scoreOf(reference) };
    rows.push(rowOf(`${height}p of a ${clip.what}, ${Math.round(bitrate / 1000)} kbit/s`, metric, pair));
  }
  return rows;
}

/** `own`: at the size of the rendition. `screen`: scaled to the size of the source, as on a large screen. */
type Score = { readonly own: number; readonly screen: number };

type Pair = { readonly ours: Score; readonly reference: Score };

function rowOf(what: string, { name, digits }: Metric, { ours, reference }: Pair): Row {
  const least = (reference.own - TOLERANCE[name]).toFixed(digits);
  const sideOf = ({ own, screen }: Score) => `${own.toFixed(digits)}, ${screen.toFixed(digits)} on a screen`;
  return [
    what,
    'x264 in two passes, equal bits and preset',
    `${name} ${ours.own.toFixed(digits)}`,
    `${name} ≥ ${least}`,
    `${sideOf(ours)}; reference ${sideOf(reference)}`,
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

type Reference = Size & { readonly bitrate: number; readonly folder: string };

/** The encoder, preset and key frames of the service. Two passes spend the bits where they are needed. */
async function encodeReference(
  source: string,
  { width, height, bitrate, folder }: Reference,
): Promise<string> {
  const path = join(folder, `reference-${height}.mp4`);
  for (const pass of ['1', '2'])
    await run(FFMPEG, [
      ...['-nostdin', '-y', '-loglevel', 'error', '-i', source],
      ...['-vf', `scale=${width}:${height}:flags=bicubic`, '-pix_fmt', 'yuv420p'],
      ...['-c:v', 'libx264', '-preset', 'veryfast', '-g', String(SEGMENT_FRAMES), '-b:v', String(bitrate)],
      ...['-pass', pass, '-passlogfile', join(folder, `passes-${height}`), path],
    ]);
  return path;
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
type Comparison = { readonly encoded: string; readonly source: string; readonly size: Size };

/** Frames are paired by their numbers: their times are rounded differently in each container. */
const BY_NUMBER = `settb=1/${FRAME_RATE},setpts=N`;

async function measure(metric: Metric, { encoded, source, size }: Comparison): Promise<number> {
  const toSize = `scale=${size.width}:${size.height}:flags=bicubic,format=yuv420p`;
  const { stderr } = await run(FFMPEG, [
    ...['-nostdin', '-hide_banner', '-i', encoded, '-i', source, '-lavfi'],
    `[0:v]${toSize},${BY_NUMBER}[encoded];[1:v]${toSize},${BY_NUMBER}[original];` +
      `[encoded][original]${metric.filter}`,
    ...['-f', 'null', '-'],
  ]);
  const score = metric.result.exec(stderr)?.[1];
  if (score === undefined) throw new Error(`no ${metric.name}:\n${stderr.slice(-1000)}`);
  return Number(score);
}
