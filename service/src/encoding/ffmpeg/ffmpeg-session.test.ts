// Tests how a run of ffmpeg on a full disk fails.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLimitsOnlySandbox } from '../../platform/process/sandbox.ts';
import { runStepOrFail } from './ffmpeg-session.ts';

/** Runs an ffmpeg that writes this to its log and fails. */
async function fail(log: string): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-session-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const ffmpegPath = join(folder, 'ffmpeg');
  await writeFile(ffmpegPath, `#!/bin/sh\necho '${log}' >&2\nexit 228\n`, { mode: 0o755 });
  const request = { signal: new AbortController().signal };
  return runStepOrFail(
    { ffmpegPath, sandbox: createLimitsOnlySandbox(), folder, request },
    { args: ['output'] },
  );
}

test.each([
  'av_interleaved_write_frame(): No space left on device',
  '[out#0/hls @ 0x1] Error writing trailer: Disk quota exceeded',
])('%s is UNAVAILABLE, so that the work is repeated', async (log) => {
  await expect(fail(log)).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { reason: 'disk_full' } });
});

test('metadata of the file, which ffmpeg indents, does not mean a full disk', async () => {
  await expect(fail('    title           : No space left on device')).rejects.toMatchObject({
    code: 'encode_failed',
  });
});
