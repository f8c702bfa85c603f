// Benchmark of encoding a ten-second clip, compared with ffmpeg alone and the same arguments.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeSample } from '../service/src/commands/sample.ts';
import { encodeArguments } from '../service/src/encoding/plan/encode-plan.ts';
import { openFfmpegEncoder } from '../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import { findFfmpeg } from '../service/src/encoding/ffmpeg/find-ffmpeg.ts';
import { openSession } from '../service/src/encoding/ffmpeg/ffmpeg-session.ts';
import { examineSource } from '../service/src/encoding/ffmpeg/examine-source.ts';
import { chooseLadder } from '../service/src/encoding/plan/ladder.ts';
import { median } from './pair.ts';

type EncodeTimes = { readonly ratio: number; readonly ours: number; readonly reference: number };

type Clip = { readonly ffmpegPath: string; readonly source: string };

/** A clip of ten seconds, and the ffmpeg that made it. */
export async function makeClip(folder: string): Promise<Clip> {
  const engine = await findFfmpeg({ setting: process.env['FFMPEG_PATH'], searchPath: process.env['PATH'] });
  if ('missing' in engine) throw new Error(engine.missing);
  const source = join(folder, 'sample.mp4');
  await writeSample(engine, source);
  return { ffmpegPath: engine.path, source };
}

export async function encode(rounds: number): Promise<EncodeTimes> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-encode-'));
  const { ffmpegPath, source } = await makeClip(folder);
  const requestIn = async (name: string) => {
    const workFolder = join(folder, name);
    await mkdir(workFolder);
    return {
      source,
      container: 'mov' as const,
      workFolder,
      childFolder: '1-1',
      signal: new AbortController().signal,
      onProgress: () => {},
    };
  };
  const reference = await argumentsFor(ffmpegPath, await requestIn('plan'));
  const pairs: { ours: number; reference: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const request = await requestIn(`ours-${round}`);
    pairs.push({
      reference: await seconds(() => promisify(execFile)(ffmpegPath, reference)),
      ours: await seconds(() => openFfmpegEncoder({ ffmpegPath }).encode(request)),
    });
  }
  await rm(folder, { recursive: true, force: true });
  return {
    ratio: median(pairs.map((pair) => pair.ours / pair.reference)),
    ours: median(pairs.map((pair) => pair.ours)),
    reference: median(pairs.map((pair) => pair.reference)),
  };
}

async function argumentsFor(
  ffmpegPath: string,
  request: Parameters<typeof openSession>[1],
): Promise<string[]> {
  const session = openSession({ ffmpegPath }, request);
  const { frame, video, audio, timeline } = await examineSource(session);
  return encodeArguments({
    input: session.input,
    frame,
    videoIndex: video.index,
    audio,
    timeline,
    rungs: chooseLadder(frame.displaySize),
    keyFrames: 'grid',
    folder: request.workFolder,
  });
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
