// Tests ffmpeg in the complete sandbox of this system: it can read its inputs and write to its folder only.
import { chmod, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { processesNaming } from '../../../../../test/support/service/traces.ts';
import { detectSandbox } from '../../../platform/process/detect-sandbox.ts';
import type { Sandbox } from '../../../platform/process/sandbox.ts';
import { openFfmpegFiles } from './ffmpeg-files.ts';
import { runFfmpeg } from './ffmpeg-process.ts';

let data: string;
let folder: string;
let sandbox: Sandbox;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'mediary-hidden-'));
  folder = join(data, 'work');
  await mkdir(folder);
  sandbox = await detectSandbox({
    hidden: [data],
    readable: ['/bin/sh'],
    user: { uid: 65_533, gid: 65_533 },
  });
});

/** A shell script stands in for ffmpeg; the first input is `$1`, without `file:`. */
const run = (text: string, source: string) =>
  runFfmpeg({
    path: '/bin/sh',
    args: ['-c', `set -- "\${1#file:}"; ${text}`, '-i', `file:${source}`],
    sandbox,
    folder,
    signal: new AbortController().signal,
    limits: { wallMs: 20_000, memoryBytes: 2 ** 30 },
  });

describe.skipIf(process.platform !== 'linux')('the files of an ffmpeg run', () => {
  test.each([0o600, 0o640, 0o644])('an original of mode %o in a closed folder is read', async (mode) => {
    const source = join(data, `original-${mode}`);
    await writeFile(source, 'bytes of a film');
    await chmod(source, mode);
    expect(await run('cat "$1" "$1" > copy', source)).toMatchObject({ outcome: 'exited', code: 0 });
    expect(await readFile(join(folder, 'copy'), 'utf8')).toBe('bytes of a filmbytes of a film');
    expect((await stat(source)).mode & 0o002).toBe(0);
  });

  test('an original cannot be written, and no other file of the folder can be read', async ({ skip }) => {
    skip(!sandbox.protections.hidden_data, 'not offered by this system');
    const [source, other] = [join(data, 'original'), join(data, 'secrets.json')];
    for (const path of [source, other]) await writeFile(path, 'untouched', { mode: 0o600 });
    expect((await run(`cat '${other}'`, source)).code).not.toBe(0);
    if (sandbox.protections.other_user) expect((await run('echo changed > "$1"', source)).code).not.toBe(0);
    expect(await readFile(source, 'utf8')).toBe(await readFile(other, 'utf8'));
  });

  test('a process that left its group ends with the run', async ({ skip }) => {
    skip(!sandbox.protections.own_processes, 'not offered by this system');
    const source = join(data, 'original');
    await writeFile(source, 'bytes');
    expect((await run('setsid sleep 98765 & exit 0', source)).code).toBe(0);
    expect(await processesNaming('sleep\u000098765')).toEqual([]);
  });

  test('a missing original is an error of the service, not of the video', async ({ skip }) => {
    skip(!sandbox.protections.hidden_data, 'not offered by this system');
    await expect(run('cat "$1"', join(data, 'nothing'))).rejects.toThrow('ENOENT');
  });

  test('paths of inputs become descriptors, paths of outputs relative, and others stay', async ({ skip }) => {
    skip(!sandbox.protections.hidden_data, 'not offered by this system');
    for (const name of ['a.mp4', 'b.mp4']) await writeFile(join(folder, name), 'bytes');
    const files = await openFfmpegFiles({
      sandbox,
      folder,
      args: [
        '-i',
        `file:${folder}/a.mp4`,
        '-i',
        `file:${folder}/b.mp4`,
        '-vf',
        'null',
        `file:${folder}/out.jpg`,
      ],
    });
    await files.close();
    expect(files.args).toEqual([
      ...['-i', 'file:/proc/self/fd/3', '-i', 'file:/proc/self/fd/4', '-vf', 'null', 'file:out.jpg'],
    ]);
    expect(files.inputs).toHaveLength(2);
  });
});
