// Benchmark of encoding: time until a video plays and is ready, against one ffmpeg run of the ladder.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeSample } from '../service/src/commands/sample.ts';
import type { EncodeRequest } from '../service/src/encoding/encoder.ts';
import { openFfmpegEncoder } from '../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import { encodeWhole } from '../test/support/encoding/whole-encode.ts';
import { findFfmpeg } from '../service/src/encoding/ffmpeg/process/find-ffmpeg.ts';
import { median } from './pair.ts';

/** Times in seconds; `reference` is one ffmpeg run of the whole ladder. */
type EncodeTimes = { readonly playable: number; readonly ready: number; readonly reference: number };
export type EncodeRatios = { readonly playable: number; readonly ready: number; readonly times: EncodeTimes };

/** H.264 with usual key frames, which is copied, and a codec that must be encoded. */
const SOURCES = {
  h264: [
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-b:v',
    '6M',
    '-maxrate',
    '8M',
    '-bufsize',
    '12M',
    '-g',
    '60',
  ],
  vp8: ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '6M', '-g', '60'],
} as const;
export type SourceName = keyof typeof SOURCES;
export const CONTAINERS = { h264: ['mov', 'mp4'], vp8: ['matroska', 'webm'] } as const;

type Clip = { readonly ffmpegPath: string; readonly source: string };

/** A clip of ten seconds, and the ffmpeg that made it. */
export async function makeClip(folder: string): Promise<Clip> {
  const engine = await findFfmpeg({ setting: process.env['FFMPEG_PATH'], searchPath: process.env['PATH'] });
  if ('missing' in engine) throw new Error(engine.missing);
  const source = join(folder, 'sample.mp4');
  await writeSample(engine, source);
  return { ffmpegPath: engine.path, source };
}

type SourcePlace = { readonly folder: string; readonly seconds?: number };

/** 1080p with sound and some noise, whose ladder costs about as much as that of a film. */
export async function makeSource(
  ffmpegPath: string,
  name: SourceName,
  { folder, seconds: length = 30 }: SourcePlace,
): Promise<string> {
  const file = join(folder, `source.${CONTAINERS[name][1]}`);
  await promisify(execFile)(ffmpegPath, [
    ...['-nostdin', '-y', '-loglevel', 'error'],
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1920x1080:rate=30,noise=alls=4:allf=t'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'],
    ...['-t', String(length), '-pix_fmt', 'yuv420p', ...SOURCES[name]],
    ...['-c:a', name === 'h264' ? 'aac' : 'libopus', file],
  ]);
  return file;
}

export async function encode(name: SourceName, rounds: number): Promise<EncodeRatios> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-encode-'));
  try {
    return await measureEncodes(name, { folder, rounds });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureEncodes(
  name: SourceName,
  { folder, rounds }: { folder: string; rounds: number },
): Promise<EncodeRatios> {
  const { ffmpegPath } = await makeClip(folder);
  const source = await makeSource(ffmpegPath, name, { folder });
  const requestIn = async (run: string) => {
    const workFolder = join(folder, run);
    await mkdir(workFolder);
    return {
      source,
      container: CONTAINERS[name][0],
      workFolder,
      signal: new AbortController().signal,
      onProgress: () => {},
    };
  };
  const reference = referenceArguments(source, (await requestIn('reference')).workFolder);
  const all: EncodeTimes[] = [];
  for (let round = 0; round < rounds; round++) {
    const request = await requestIn(`ours-${round}`);
    all.push({
      reference: await seconds(() => promisify(execFile)(ffmpegPath, reference, { cwd: folder })),
      ...(await encodeTimes(ffmpegPath, request)),
    });
  }
  const medianOf = (value: (times: EncodeTimes) => number) => median(all.map(value));
  return {
    playable: medianOf((times) => times.playable / times.reference),
    ready: medianOf((times) => times.ready / times.reference),
    times: {
      playable: medianOf(({ playable }) => playable),
      ready: medianOf(({ ready }) => ready),
      reference: medianOf((times) => times.reference),
    },
  };
}

async function encodeTimes(
  ffmpegPath: string,
  request: EncodeRequest,
): Promise<Omit<EncodeTimes, 'reference'>> {
  const start = performance.now();
  let playable = Number.NaN;
  const onPlayable = async () => {
    if (Number.isNaN(playable)) playable = (performance.now() - start) / 1000;
  };
  const ready = await seconds(() =>
    encodeWhole(openFfmpegEncoder({ ffmpegPath }), { ...request, onPlayable }),
  );
  return { playable, ready };
}

type ReferenceRung = readonly [width: number, height: number, kilobits: number, profile: 'high' | 'main'];

/** Width, height, kbit/s at most, and profile: those of the service's default ladder. */
const LADDER: readonly ReferenceRung[] = [
  [1920, 1080, 5000, 'high'],
  [1280, 720, 2800, 'high'],
  [854, 480, 1200, 'main'],
  [640, 360, 700, 'main'],
  [426, 240, 350, 'main'],
];

/** The rungs of a video in 720p. */
export const LADDER_OF_720P = LADDER.slice(1);

/** As written by hand: every size from the source, with the quality and format of the service. */
export function referenceArguments(source: string, folder: string, ladder = LADDER): string[] {
  const names = ladder.map((_, index) => `[s${index}]`).join('');
  const scaled = ladder.map(([width, height], index) => `[s${index}]scale=${width}:${height}[v${index}]`);
  const rungs = ladder.flatMap(([, , kilobits, profile], index) => [
    ...[`-crf:v:${index}`, '23', `-profile:v:${index}`, profile],
    ...[`-maxrate:v:${index}`, `${kilobits}k`, `-bufsize:v:${index}`, `${2 * kilobits}k`],
  ]);
  return [
    ...['-nostdin', '-y', '-loglevel', 'error', '-i', source],
    ...['-filter_complex', [`[0:v]split=${ladder.length}${names}`, ...scaled].join(';')],
    ...ladder.flatMap((_, index) => ['-map', `[v${index}]`]),
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-g', '60', '-sc_threshold', '0', ...rungs],
    ...['-map', '0:a', '-c:a', 'aac', '-b:a', '128k'],
    ...['-f', 'dash', '-seg_duration', '4', '-use_template', '1', '-use_timeline', '1'],
    join(folder, 'manifest.mpd'),
  ];
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
