// Tests what a program can access inside the sandbox, and the protection on systems with fewer features.
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { detectSandbox } from './detect-sandbox.ts';
import {
  buildSandbox,
  createLimitsOnlySandbox,
  describeRemedies,
  missingProtections,
  type ProcessLimits,
  type Sandbox,
} from './sandbox.ts';
import { IS_ROOT, LIMITS, runInside, type RunOptions, USER } from './sandbox.fixture.ts';

/** The reason in a checkout whose folder only root can open. */
const UNREADABLE = 'other users cannot read this checkout';
const IS_LINUX = process.platform === 'linux';

let data: string;
let sandbox: Sandbox;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'mediary-sandbox-'));
  await chmod(data, 0o755);
  await writeFile(join(data, 'secrets.json'), 'a planted secret', { mode: 0o600 });
  sandbox = await detectSandbox({ hidden: [data], readable: [process.execPath], user: USER });
});

type Inside = RunOptions & { readonly in?: Sandbox };

/** Standard output and exit code of a shell script that runs in the sandbox. */
const inside = (script: string, { in: used = sandbox, ...options }: Inside = {}) =>
  runInside(used, script, options);

/** The same of a Node script, for what a shell cannot do. */
const insideNode = (script: string, args: readonly string[] = []) =>
  inside(`'${process.execPath}' --eval "${script}" ${args.map((arg) => `'${arg}'`).join(' ')}`);

describe.skipIf(!IS_LINUX)('a sandboxed program', () => {
  test('the secrets file cannot be read', async ({ skip }) => {
    skip(!sandbox.protections.hidden_data, 'not offered by this system');
    expect((await inside(`cat '${data}/secrets.json'`)).output).toBe('');
    expect((await inside(`cat '${data}/secrets.json'`)).code).not.toBe(0);
    expect(await readFile(join(data, 'secrets.json'), 'utf8')).toBe('a planted secret');
  });

  test("neither the service's environment nor its memory can be read", async ({ skip }) => {
    skip(!sandbox.protections.no_network, 'not offered by this system');
    const parent = `/proc/${process.pid}`;
    expect((await inside(`cat ${parent}/environ || cat /proc/$PPID/environ`)).output).not.toContain('PATH=');
    expect((await inside(`head -c 1 ${parent}/mem`)).code).not.toBe(0);
    expect((await inside('env')).output).not.toMatch(/^(?:PATH|HOME|NODE_|VITEST)/m);
  });

  test('servers on this machine and elsewhere cannot be reached', async ({ skip }) => {
    skip(!sandbox.protections.no_network, 'not offered by this system');
    const server = createServer((socket) => socket.end());
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve);
    await listening;
    const { port } = server.address() as { port: number };
    const connect = (host: string, to: number) =>
      insideNode(
        `require('net').connect(${to}, '${host}')
          .on('connect', () => console.log('connected'))
          .on('error', (e) => console.log(e.code))`,
      );
    expect((await connect('127.0.0.1', port)).output).toMatch(/^(?:ENETUNREACH|ECONNREFUSED|EADDRNOTAVAIL)$/);
    expect((await connect('192.0.2.1', 80)).output).toBe('ENETUNREACH');
    server.close();
  });

  test('a socket in the data folder cannot be reached', async ({ skip }) => {
    skip(!sandbox.protections.hidden_data, 'not offered by this system');
    const path = join(data, 'database.sock');
    const server = createServer((socket) => socket.end());
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    server.listen(path, resolve);
    await listening;
    await chmod(path, 0o777);
    const { output } = await insideNode(
      `require('net').connect('${path}')
          .on('connect', () => console.log('connected'))
          .on('error', (e) => console.log(e.code))`,
    );
    expect(output).toMatch(/^(?:ENOENT|EACCES)$/);
    server.close();
  });

  test('it has no capabilities and cannot gain any', async ({ skip }) => {
    skip(!sandbox.protections.no_capabilities, 'not offered by this system');
    const { output } = await inside('grep -E "^(Cap|NoNewPrivs)" /proc/self/status');
    expect(output.match(/^Cap(?:Prm|Eff|Bnd|Amb):\s+0+$/gm)).toHaveLength(4);
    expect(output).toMatch(/^NoNewPrivs:\s+1$/m);
    expect((await inside(`umount '${data}'`)).code).not.toBe(0);
  });

  test.skipIf(!IS_ROOT)('the user is not root', async ({ skip }) => {
    skip(!sandbox.protections.other_user, UNREADABLE);
    expect((await inside('id -u; id -g; id -G')).output.split('\n')).toEqual(['65533', '65533', '65533']);
  });

  test('an open file and the working folder stay usable', async () => {
    const folder = join(data, 'work');
    await mkdir(folder);
    if (sandbox.protections.other_user) await chown(folder, USER.uid, USER.gid);
    expect((await inside('echo made > out && cat out', { cwd: folder })).output).toBe('made');
    expect(await readFile(join(folder, 'out'), 'utf8')).toBe('made\n');
  });
});

describe('limits', () => {
  test.each<[string, Partial<ProcessLimits>, string]>([
    ['of CPU time', { cpuSeconds: 1 }, 'while :; do :; done'],
    ['of file size', { fileBytes: 1024 }, 'cd /tmp && f=$(mktemp) && head -c 5000 /dev/zero > "$f"'],
    ['of open files', { openFiles: 16 }, `'${process.execPath}' --eval 0`],
  ])('%s end a program', async (_, limits, script) => {
    expect((await inside(script, { limits })).code).not.toBe(0);
  });
  test('apply without any other layer of the sandbox', async () => {
    const { output } = await inside('ulimit -t; ulimit -n; ulimit -c', { in: createLimitsOnlySandbox() });
    expect(output.split('\n')).toEqual(['20', '64', '0']);
  });
  test('that exceed those of the service are ignored', async () => {
    const { file, args } = createLimitsOnlySandbox().command(
      { file: '/bin/sh', args: ['-c', 'ulimit -n'] },
      LIMITS,
    );
    const tight = promisify(execFile)('/bin/sh', ['-c', 'ulimit -n 32; exec "$@"', 'sh', file, ...args]);
    expect((await tight).stdout.trim()).toBe('32');
  });
});

describe.skipIf(!IS_LINUX)('a system with fewer features', () => {
  test('reports each missing protection', async () => {
    expect(missingProtections(buildSandbox({ hasLimits: false }))).toHaveLength(8);
    expect(missingProtections(createLimitsOnlySandbox())).not.toContain('limits');
  });
  test('names what gives each missing protection, once', () => {
    const missing = missingProtections(buildSandbox({ hasLimits: false }));
    for (const isRoot of [true, false]) {
      const named = describeRemedies(missing, isRoot).flatMap((line) => line.split(': ')[0]?.split(', '));
      expect(named.sort()).toEqual(missing.toSorted());
    }
    expect(describeRemedies([], false)).toEqual([]);
  });
  test('code that another user cannot read runs as the own user without privileges', async () => {
    const closed = await mkdtemp(join(tmpdir(), 'mediary-closed-'));
    const script = join(closed, 'script.sh');
    await writeFile(script, 'echo ran');
    const weaker = await detectSandbox({ hidden: [data], readable: [script], user: USER });
    expect(weaker.protections.other_user).toBe(false);
    expect((await inside(`sh '${script}'`, { in: weaker })).output).toBe('ran');
    expect((await inside(`cat '${data}/secrets.json'`, { in: weaker })).output).toBe('');
  });
});
