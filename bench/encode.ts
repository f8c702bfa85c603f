// Benchmark of a complete encode of a ten-second clip, compared with the same ffmpeg arguments without the encoder.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeSample } from '../service/src/commands/sample.ts';
import { encodeArguments } from '../service/src/encoding/plan/encode-plan.ts';
import { openFfmpegEncoder } from '../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import { findFfmpeg } from '../service/src/encoding/ffmpeg/find-ffmpeg.ts';
import { openSession } from '../service/src/encoding/ffmpeg/ffmpeg-session.ts';
import { examineSource } from '../service/src/encoding/ffmpeg/examine-source.ts';
import { chooseLadder } from '../service/src/encoding/plan/ladder.ts';
import { median } from './pair.ts';

type EncodeTimes = { readonly ratio: number; readonly ours: number; readonly byHand: number };

export async function encode(rounds: number): Promise<EncodeTimes> {
  const engine = await findFfmpeg({ setting: process.env['FFMPEG_PATH'], searchPath: process.env['PATH'] });
  if ('missing' in engine) throw new Error(engine.missing);
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-encode-'));
  const source = join(folder, 'sample.mp4');
  await makeSample(engine, source);
  const orderIn = async (name: string) => {
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
  const byHand = await argumentsFor(engine.path, await orderIn('plan'));
  const pairs: { ours: number; byHand: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const order = await orderIn(`ours-${round}`);
    pairs.push({
      byHand: await seconds(() => promisify(execFile)(engine.path, byHand)),
      ours: await seconds(() => openFfmpegEncoder({ ffmpegPath: engine.path }).encode(order)),
    });
  }
  await rm(folder, { recursive: true, force: true });
  return {
    ratio: median(pairs.map((pair) => pair.ours / pair.byHand)),
    ours: median(pairs.map((pair) => pair.ours)),
    byHand: median(pairs.map((pair) => pair.byHand)),
  };
}

async function argumentsFor(ffmpegPath: string, order: Parameters<typeof openSession>[1]): Promise<string[]> {
  const session = openSession({ ffmpegPath }, order);
  const { frame, video, audio, timeline } = await examineSource(session);
  return encodeArguments({
    input: session.input,
    frame,
    videoIndex: video.index,
    audioIndex: audio?.index,
    timeline,
    rungs: chooseLadder(frame.displaySize),
    folder: order.workFolder,
  });
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
