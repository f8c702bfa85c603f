// Tests the trial of hardware encoders, and the fall-back to software, where ffmpeg finds no GPU.
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { encodeWhole } from '../../../../test/support/encoding/whole-encode.ts';
import { ffmpegPath, makeClip, NOT_COPYABLE } from '../../../../test/support/clips/clips.ts';
import { encodeFilm } from '../../../../test/support/clips/film.ts';
import type { Logger } from '../../platform/observability/logger.ts';
import { createLimitsOnlySandbox } from '../../platform/process/sandbox.ts';
import { openFfmpegEncoder } from './ffmpeg-encoder.ts';
import { type EncodeStep, type Hardware, runStepOrFail } from './ffmpeg-session.ts';
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
  const input = ['-nostdin', '-y', '-loglevel', 'error', '-i', await makeClip({ seconds: 1 })];
  const args = [...input, '-c:v', 'libx264', output];
  const hardwareArgs = () => [...input, '-c:v', 'h264_nvenc', output];
  await runStepOrFail({ ...setup, folder, request, hardware }, { args, hardwareArgs });
  expect(logs).toHaveLength(1);
  expect((await stat(output)).size).toBeGreaterThan(1000);
});

const ON_HARDWARE = { hardwareArgs: (encoder: string) => ['-c:v', `h264_${encoder}`, 'output'] };

/** An ffmpeg whose run on hardware leaves a file and then does this. */
async function createFaultyEngine(fault: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-faulty-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'ffmpeg');
  const onHardware = `*h264_nvenc*) echo segment > left-by-hardware; ${fault} ;;`;
  await writeFile(path, `#!/bin/sh\ncase "$*" in ${onHardware} *) echo picture > output ;; esac\n`, {
    mode: 0o755,
  });
  return path;
}

async function runFaulty(fault: string, step: Pick<EncodeStep, 'hardwareArgs'> = ON_HARDWARE) {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-hardware-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'input'), 'film');
  const logs: string[] = [];
  const hardware: Hardware = { encoder: 'nvenc', onFailure: (log) => logs.push(log) };
  const request = { signal: new AbortController().signal };
  const args = ['-c:v', 'libx264', 'output'];
  const limits = { wallMs: 1500, output: { folder, bytes: 1_000_000 } };
  const context = { ...setup, ffmpegPath: await createFaultyEngine(fault), folder, hardware };
  await runStepOrFail({ ...context, request }, { args, limits, ...step });
  return { logs, files: (await readdir(folder)).sort() };
}

test.each([
  ['hangs', 'exec sleep 60', ''],
  ['lacks memory', 'echo "Cannot allocate memory" >&2; exit 1', 'Cannot allocate memory'],
  ['writes too much', 'head -c 2000000 /dev/zero >> left-by-hardware', ''],
  ['crashes', 'echo "CUDA error" >&2; exit 139', 'CUDA error'],
])('an encode that %s on hardware is repeated in software, without its files', async (_, fault, log) => {
  expect(await runFaulty(fault)).toEqual({
    logs: [expect.stringContaining(log)],
    files: ['input', 'output'],
  });
});

test('a step without arguments for hardware runs only in software', async () => {
  expect(await runFaulty('exit 1', {})).toEqual({ logs: [], files: ['input', 'output'] });
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
    await encodeWhole(openFfmpegEncoder({ ...setup, hardware }), {
      source: await makeClip({ seconds: 9, width: 640, height: 360, more: NOT_COPYABLE }),
      container: 'mov',
      workFolder,
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

test.skipIf(hasGpu)(
  'each chunk is tried on hardware',
  async () => {
    const logs: string[] = [];
    const hardware: Hardware = { encoder: 'nvenc', onFailure: (log) => logs.push(log) };
    const source = await makeClip({ seconds: 9, width: 640, height: 360, more: NOT_COPYABLE });
    await using film = await encodeFilm(source, { chunkSeconds: 4, hardware });
    expect(film.durationMs).toBe(9000);
    expect(logs).toHaveLength(2);
  },
  60_000,
);
