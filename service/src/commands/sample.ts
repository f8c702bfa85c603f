// Makes a video to try the service with: ten seconds, with a counting picture and a tone.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Engine } from '../adapters.ts';

export async function makeSample(engine: Engine, file: string): Promise<void> {
  if ('missing' in engine) throw new Error(`No video engine to make the sample with: ${engine.missing}`);
  await promisify(execFile)(engine.path, [
    '-nostdin',
    '-y',
    '-loglevel',
    'error',
    '-f',
    'lavfi',
    '-i',
    'testsrc2=size=1280x720:rate=30',
    '-f',
    'lavfi',
    '-i',
    'sine=frequency=440:sample_rate=48000',
    '-t',
    '10',
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'aac',
    '-movflags',
    '+faststart',
    file,
  ]);
  process.stdout.write(`${file}\n`);
}
