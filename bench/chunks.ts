// Benchmark of chunks: what they cost on one machine, and how their work divides among workers.
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChunkRunner, Encoder, EncodeRequest } from '../service/src/encoding/encoder.ts';
import { openFfmpegEncoder } from '../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import { encodeWhole } from '../test/support/encoding/whole-encode.ts';
import { CONTAINERS, makeClip, makeSource, type SourceName } from './encode.ts';
import { median } from './pair.ts';
import { type Row, round } from './rows.ts';

const SECONDS = 60;
const CHUNK_SECONDS = 12;
const WORKERS = 4;

/** `chunks`: processor seconds of each. */
type Measured = {
  readonly seconds: number;
  readonly cpu: number;
  readonly bitrate: number;
  readonly chunks: readonly number[];
};

export async function chunks(name: SourceName, rounds: number): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-chunks-'));
  try {
    const { ffmpegPath } = await makeClip(folder);
    const source = await makeSource(ffmpegPath, name, { folder, seconds: SECONDS });
    const encoder = openFfmpegEncoder({ ffmpegPath });
    const measureIn = (run: string, isChunked: boolean) =>
      measure(encoder, { source, container: CONTAINERS[name][0], workFolder: join(folder, run), isChunked });
    const all: Round[] = [];
    for (let number = 0; number < rounds; number++)
      all.push({
        whole: await measureIn(`whole-${number}`, false),
        chunked: await measureIn(`chunked-${number}`, true),
      });
    const ratio = (of: (measured: Measured) => number) =>
      median(all.map(({ whole, chunked }) => of(chunked) / of(whole)));
    const last = all.at(-1) as (typeof all)[number];
    return rowsOf(name, last, { time: ratio(({ seconds }) => seconds), cpu: ratio(({ cpu }) => cpu) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Round = { readonly whole: Measured; readonly chunked: Measured };

function rowsOf(
  name: SourceName,
  { whole, chunked }: Round,
  { time, cpu }: { time: number; cpu: number },
): readonly Row[] {
  const codec = name === 'h264' ? 'H.264' : 'VP8';
  const what = `${SECONDS} s of 1080p in ${codec} in chunks of ${CHUNK_SECONDS} s`;
  const loads = divide(chunked.chunks);
  const first = chunked.cpu - chunked.chunks.reduce((sum, seconds) => sum + seconds, 0);
  return [
    [
      `${what}, on one machine`,
      'the same in one piece',
      `${round(time)} × time`,
      '≤ 1.15',
      `${round(chunked.seconds)} s to ${round(whole.seconds)} s, ${round(cpu)} × processor time, ` +
        `${round(chunked.bitrate / whole.bitrate)} × bytes`,
    ],
    [
      `${what}, divided among ${WORKERS} workers`,
      'the same in one piece',
      `${round((first + Math.max(...loads)) / whole.cpu)} × processor time until the last has ended`,
      '≤ 0.5',
      `processor seconds: first rendition ${round(first)}, chunks of each ${loads.map(round).join(', ')}`,
    ],
  ];
}

/** Each chunk goes to the worker that is free first, once one of them has made the first rendition. */
function divide(each: readonly number[]): readonly number[] {
  const loads = Array.from({ length: WORKERS }, () => 0);
  for (const seconds of each) {
    const free = loads.indexOf(Math.min(...loads));
    loads[free] = (loads[free] ?? 0) + seconds;
  }
  return loads;
}

type Encode = Pick<EncodeRequest, 'source' | 'container' | 'workFolder'> & { readonly isChunked: boolean };

async function measure(encoder: Encoder, { isChunked, ...encode }: Encode): Promise<Measured> {
  await mkdir(encode.workFolder);
  const each: number[] = [];
  const [startedAt, before] = [performance.now(), cpuOfEndedChildren()];
  const encoding = await encodeWhole(encoder, {
    ...encode,
    signal: new AbortController().signal,
    onProgress: () => {},
    ...(isChunked && { chunkSeconds: CHUNK_SECONDS, encodeChunks: localRunner(encoder, encode, each) }),
  });
  return {
    seconds: (performance.now() - startedAt) / 1000,
    cpu: cpuOfEndedChildren() - before,
    bitrate: encoding.renditions.reduce((sum, { bitrate }) => sum + (bitrate ?? 0), 0),
    chunks: each,
  };
}

/** One chunk after the other; records the processor seconds of each. */
function localRunner(
  encoder: Encoder,
  { source, workFolder }: Pick<EncodeRequest, 'source' | 'workFolder'>,
  each: number[],
): ChunkRunner {
  return async (specs) => {
    const done = [];
    for (const spec of specs) {
      const before = cpuOfEndedChildren();
      const folder = join(workFolder, `chunk-${spec.chunk.number}`);
      await mkdir(folder);
      const signal = new AbortController().signal;
      const tracks = await encoder.encodeChunk({ source, workFolder: folder, spec, signal });
      for (const { name } of tracks.flatMap(({ segments }) => segments))
        await rename(join(folder, name), join(workFolder, name));
      each.push(cpuOfEndedChildren() - before);
      done.push(tracks);
    }
    return done;
  };
}

/** Fields 16 and 17 of /proc/self/stat: user and system time of children, in hundredths of a second. */
function cpuOfEndedChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
