// `npm run sample`: writes a test video of ten seconds with a counter and a tone.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine } from '../adapters.ts';

const ARGUMENTS = [
  ...['-nostdin', '-y', '-loglevel', 'error'],
  ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
  ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'],
  ...['-t', '10'],
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'],
  ...['-c:a', 'aac'],
  ...['-movflags', '+faststart'],
];

export async function writeSample(engine: Engine, file: string): Promise<void> {
  await renderSample(engine, file);
  process.stdout.write(`${file}\n`);
}

/** Returns the bytes of the video. */
export async function createSample(engine: Engine): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-sample-'));
  try {
    await renderSample(engine, join(folder, 'sample.mp4'));
    return await readFile(join(folder, 'sample.mp4'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function renderSample(engine: Engine, file: string): Promise<void> {
  if ('missing' in engine) throw new Error(`The sample needs ffmpeg: ${engine.missing}`);
  await promisify(execFile)(engine.path, [...ARGUMENTS, file]);
}
