// Tests that ffmpeg cannot hang, outlive the service or exceed its limits; shell scripts replace ffmpeg.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test, vi } from 'vitest';
import { ffmpegPath } from '../../../../../test/support/clips/clips.ts';
import { buildSandbox } from '../../../platform/process/sandbox.ts';
import { type FfmpegRun, runFfmpeg } from './ffmpeg-process.ts';

const GENEROUS = { wallMs: 20_000, memoryBytes: 1024 ** 3 };
const never = () => new AbortController().signal;
const script = (text: string, more: Partial<FfmpegRun> = {}) =>
  runFfmpeg({ path: '/bin/sh', args: ['-c', text], signal: never(), limits: GENEROUS, ...more });

/** Runs a script that prints its process id first, and tells it. */
function observed(text: string, more: Partial<FfmpegRun> = {}) {
  const pid = Promise.withResolvers<number>();
  const onLine = (line: string) => {
    if (line.startsWith('pid=')) pid.resolve(Number(line.slice(4)));
  };
  return { pid: pid.promise, end: script(`echo "pid=$$"; ${text}`, { ...more, onLine }) };
}

const isAlive = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/\) [ZX] /.test(stat),
    () => false,
  );

describe('running ffmpeg', () => {
  test('its exit code, its output by line, and its log', async () => {
    const lines: string[] = [];
    const end = await script('echo one; echo two; echo trouble >&2; exit 3', {
      onLine: (line) => lines.push(line),
    });
    expect(end).toEqual({ outcome: 'exited', code: 3, log: 'trouble\n' });
    expect(lines).toEqual(expect.arrayContaining(['one', 'two']));
  });
  test.each([
    ['urgent', 3],
    ['background', 10],
  ] as const)('it sees no environment and no input, and gives way to others: %s', async (priority, nice) => {
    const lines: string[] = [];
    await script('env; read -r line || echo "input=none"; echo "nice=$(nice)"', {
      onLine: (line) => lines.push(line),
      priority,
    });
    expect(lines).toEqual(expect.arrayContaining(['input=none', `nice=${nice}`]));
    expect(lines.filter((line) => /^(?:HOME|PATH=.*node|.*SECRET)/.test(line))).toEqual([]);
  });
  test('only the end of the log is stored', async () => {
    const { log } = await script('i=0; while [ $i -lt 200 ]; do echo "line $i" >&2; i=$((i+1)); done', {
      logBytes: 20,
    });
    expect(log).toHaveLength(20);
    expect(log).toMatch(/line 199\n$/);
  });
  test('a log that starts within a character can be stored', async () => {
    const { log } = await script("printf '\\360\\237\\216\\254 end\\n' >&2", { logBytes: 6 });
    expect(log).toBe('\ufffd end\n');
  });
  test('metadata cannot begin a line of its log', async () => {
    const separators = ['\\342\\200\\250', '\\342\\200\\251'];
    const { log, outcome } = await script(
      `printf '    title: ${separators.map((each) => `${each}Out of memory`).join('')}\\n' >&2`,
    );
    expect(log).toBe('    title:  Out of memory Out of memory\n');
    expect(outcome).toBe('exited');
  });
  test('a missing program is not started', async () => {
    const end = await runFfmpeg({ path: '/nowhere/ffmpeg', args: [], signal: never(), limits: GENEROUS });
    expect(end.outcome).toBe('not_started');
  });
});

describe('stopping ffmpeg', () => {
  test('at once, with the reason of the signal', async () => {
    const controller = new AbortController();
    const { pid, end } = observed("trap '' TERM INT PIPE; while :; do sleep 1; done", {
      signal: controller.signal,
    });
    const outcome = expect(end).rejects.toBe('enough');
    const ffmpeg = await pid;
    controller.abort('enough');
    await outcome;
    expect(await isAlive(ffmpeg)).toBe(false);
  });
  test('it is not even started for a signal that has fired', async () => {
    await expect(script('exit 0', { signal: AbortSignal.abort('too late') })).rejects.toBe('too late');
  });
  test('it is not started either for a signal that fires while its files are opened', async () => {
    const lines: string[] = [];
    const controller = new AbortController();
    const end = script('echo started', {
      signal: controller.signal,
      onLine: (line) => lines.push(line),
    });
    controller.abort('at once');
    await expect(end).rejects.toBe('at once');
    expect(lines).toEqual([]);
  });
  test('when it takes too long', async () => {
    const { pid, end } = observed('while :; do sleep 1; done', { limits: { ...GENEROUS, wallMs: 700 } });
    expect(await end).toMatchObject({ outcome: 'timed_out' });
    expect(await isAlive(await pid)).toBe(false);
  });
  test('when it talks but gets nowhere', async () => {
    const end = await script('while :; do echo frame=7; echo speed=2x; sleep 0.1; done', {
      limits: { ...GENEROUS, stallMs: 700 },
    });
    expect(end.outcome).toBe('timed_out');
  });
  test('not while it makes slow progress', async () => {
    const end = await script('for n in 1 2 3 4 5 6 7 8 9; do echo "frame=$n"; sleep 0.4; done', {
      limits: { ...GENEROUS, stallMs: 3000 },
    });
    expect(end).toMatchObject({ outcome: 'exited', code: 0 });
  });
  test('when it takes too much memory', async () => {
    const hungry =
      'x=0123456789abcdef; ' +
      'for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do x=$x$x; done; ' +
      'while :; do sleep 1; done';
    const watched = buildSandbox({ hasLimits: false });
    const limits = { ...GENEROUS, memoryBytes: 20_000_000 };
    expect((await script(hungry, { sandbox: watched, limits })).outcome).toBe('out_of_memory');
  });
  test('when it writes too much', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mediary-ffmpeg-'));
    const flood = `while :; do head -c 100000 /dev/zero >> '${folder}/out'; sleep 0.05; done`;
    expect(
      (await script(flood, { limits: { ...GENEROUS, output: { folder, bytes: 300_000 } } })).outcome,
    ).toBe('output_too_large');
  });
  test('killed by someone else: short of memory, as far as we can tell', async () => {
    expect((await script('kill -9 $$')).outcome).toBe('out_of_memory');
  });
});

describe('limits of the kernel', () => {
  test('apply to ffmpeg itself from its start', async () => {
    const lines: string[] = [];
    const limits = { wallMs: 20_000, memoryBytes: 2 ** 30, output: { folder: tmpdir(), bytes: 2 ** 20 } };
    await script('ulimit -v; ulimit -f; ulimit -n; ulimit -c; ulimit -t', {
      limits,
      onLine: (line) => lines.push(line),
    });
    expect(lines.slice(-5, -1)).toEqual([`${2 ** 20}`, `${2 ** 11}`, '256', '0']);
    expect(Number(lines.at(-1))).toBeLessThanOrEqual(20 * availableParallelism());
  });
  test('a request for too much memory fails with out_of_memory', async () => {
    // One frame of this size takes 384 MiB.
    const input = ['-f', 'lavfi', '-i', 'color=size=640x360:rate=1', '-vf', 'scale=16384:16384'];
    const args = ['-nostdin', '-hide_banner', ...input, '-frames:v', '1', '-f', 'null', '-'];
    const limits = { wallMs: 60_000, memoryBytes: 400 * 1024 ** 2 };
    const end = await runFfmpeg({ path: ffmpegPath(), args, signal: never(), limits });
    expect(end.outcome).toBe('out_of_memory');
    expect(end.log).toMatch(/Cannot allocate memory|malloc of size/);
  });
  test('a file that gets too large stops ffmpeg', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mediary-ffmpeg-'));
    const limits = { ...GENEROUS, output: { folder, bytes: 100_000 } };
    const flood = 'head -c 1000000 /dev/zero > out; exit $?';
    expect((await script(flood, { folder, limits })).outcome).toBe('output_too_large');
    expect((await stat(join(folder, 'out'))).size).toBeLessThanOrEqual(100_352);
  });
});

describe('files', () => {
  test('a symbolic link in the output is rejected, so the service cannot publish its target', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mediary-ffmpeg-'));
    await expect(script('ln -s /etc/passwd r0-00001.m4s', { folder })).rejects.toThrow(
      '"r0-00001.m4s", which is not a plain file',
    );
  });
});

test('ffmpeg is killed when the service is killed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-ffmpeg-'));
  const owner = join(folder, 'owner.ts');
  await writeFile(
    owner,
    `
    import { runFfmpeg } from '${new URL('./ffmpeg-process.ts', import.meta.url).pathname}';
    await runFfmpeg({
      path: '/bin/sh',
      args: ['-c', "trap '' TERM INT PIPE HUP; echo pid=$$; while :; do sleep 1; done"],
      signal: new AbortController().signal,
      limits: { wallMs: 60_000, memoryBytes: 1e9 },
      onLine: (line) => console.log(line),
    });`,
  );
  const child = spawn(process.execPath, [owner], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ffmpeg = Promise.withResolvers<number>();
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('pid=')) ffmpeg.resolve(Number(line.slice(4)));
  });
  const pid = await ffmpeg.promise;
  expect(await isAlive(pid)).toBe(true);
  child.kill('SIGKILL');
  await vi.waitFor(async () => expect(await isAlive(pid)).toBe(false), { timeout: 5000, interval: 20 });
});
