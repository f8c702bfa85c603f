// `npm run sample`: writes a test video of ten seconds with a counter and a tone, or the tone alone.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine } from '../adapters.ts';

const COMMON = ['-nostdin', '-y', '-loglevel', 'error'];
const TONE = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'];
const LENGTH = ['-t', '10'];

const VIDEO = [
  ...COMMON,
  ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
  ...TONE,
  ...LENGTH,
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p'],
  ...['-c:a', 'aac'],
  ...['-movflags', '+faststart'],
];

/** The tone swells and fades, as its waveform shows. The name decides the format. */
const SOUND = [...COMMON, ...TONE, ...LENGTH, '-af', 'tremolo=f=0.4:d=0.9'];

const isSound = (file: string): boolean => SOUND_NAMES.test(file);
const SOUND_NAMES = /\.(?:m4a|mp3|ogg|wav|flac)$/;

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
  await promisify(execFile)(engine.path, [...(isSound(file) ? SOUND : VIDEO), file]);
}
