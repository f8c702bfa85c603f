// Tests the trial of hardware encoders, and the fall-back to software, where ffmpeg finds no GPU.
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../../../test/support/clips.ts';
import type { Logger } from '../../platform/logger.ts';
import { createLimitsOnlySandbox } from '../../platform/process/sandbox.ts';
import { openFfmpegEncoder } from './ffmpeg-encoder.ts';
import { type Hardware, runStepOrFail } from './ffmpeg-session.ts';
import { chooseHardware } from './hardware-trial.ts';

const setup = { ffmpegPath: ffmpegPath(), sandbox: createLimitsOnlySandbox() };

/** The tests are about machines without one. */
const hasGpu = await stat('/dev/dri').then(
  () => true,
  () => false,
);

async function choose(setting: Parameters<typeof chooseHardware>[0]) {
  const logged: string[] = [];
  const record = (_: object, message: string) => logged.push(message);
  const chosen = await chooseHardware(setting, setup, { info: record, warn: record } as unknown as Logger);
  return { chosen, logged };
}

test('software is the default, without a trial', async () => {
  expect(await choose('software')).toEqual({ chosen: undefined, logged: [] });
});

test.skipIf(hasGpu)('each candidate is tried; without a GPU videos are encoded in software', async () => {
  expect(await choose('auto')).toEqual({
    chosen: undefined,
    logged: [
      'this hardware encoder cannot be used',
      'this hardware encoder cannot be used',
      'no hardware encoder of VIDEO_ENCODER works: videos are encoded in software',
    ],
  });
});

test.skipIf(hasGpu)('an encode that fails on hardware is repeated in software', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-hardware-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const logs: string[] = [];
  const hardware: Hardware = { encoder: 'nvenc', onFailure: (log) => logs.push(log) };
  const request = { signal: new AbortController().signal };
  const output = join(folder, 'out.mp4');
  const args = [
    '-nostdin',
    '-y',
    '-loglevel',
    'error',
    '-i',
    await makeClip({ seconds: 1 }),
    '-c:v',
    'libx264',
    output,
  ];
  await runStepOrFail({ ...setup, folder, request, hardware }, { args });
  expect(logs).toHaveLength(1);
  expect((await stat(output)).size).toBeGreaterThan(1000);
});

test.skipIf(hasGpu)(
  'segments that are published during the run are never encoded on hardware',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mediary-hardware-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const workFolder = join(folder, 'work');
    await mkdir(workFolder);
    const steps: string[] = [];
    const hardware: Hardware = { encoder: 'nvenc', onFailure: () => steps.push('failed on hardware') };
    // Players cannot show 4:2:2, so the lowest rendition is encoded first.
    const more = ['-pix_fmt', 'yuv422p'];
    await openFfmpegEncoder({ ...setup, hardware }).encode({
      source: await makeClip({ seconds: 9, width: 640, height: 360, more }),
      container: 'mov',
      workFolder,
      childFolder: '1-1',
      signal: new AbortController().signal,
      onProgress: () => {},
      onPlayable: async () => {
        steps.push('published');
      },
    });
    expect(steps[0]).toBe('published');
    expect(steps.filter((step) => step !== 'published')).toEqual(['failed on hardware']);
  },
  60_000,
);
