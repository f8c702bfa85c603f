// Tests what a program can access inside the sandbox, and the protection on systems with fewer features.
import { execFile, spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { detectSandbox } from './detect-sandbox.ts';
import {
  buildSandbox,
  createLimitsOnlySandbox,
  missingProtections,
  type ProcessLimits,
  type Sandbox,
} from './sandbox.ts';

const USER = { uid: 65_533, gid: 65_533 };
const LIMITS: ProcessLimits = { cpuSeconds: 20, fileBytes: 2 ** 20, openFiles: 64 };
const IS_ROOT = process.getuid?.() === 0;
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

type Inside = { readonly in?: Sandbox; readonly limits?: Partial<ProcessLimits>; readonly cwd?: string };

/** Standard output and exit code of a shell script that runs in the sandbox. */
async function inside(script: string, { in: used = sandbox, limits, cwd = '/' }: Inside = {}) {
  const { file, args } = used.command({ file: '/bin/sh', args: ['-c', script] }, { ...LIMITS, ...limits });
  const child = spawn(file, args, { env: {}, cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  const output = Buffer.concat(await child.stdout.toArray()).toString();
  return { output: output.trim(), code: await promise };
}

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

/** Prints what a program finds on its way up from its working folder, and which files it changed. */
const WALK_UP = `
for up in .. ../.. ../../.. ../../../..; do
  cat "$up/secrets.json" "$up/other/file" "$up/scratch/other/file"
  { echo changed >"$up/other/file"; } && echo changed
  { echo changed >"$up/scratch/other/file"; } && echo changed
done
ls /proc/self/cwd/../..`;

describe.skipIf(!IS_LINUX)('from its working folder a sandboxed program', () => {
  const plant = async (root: string) => {
    const [run = '', other = ''] = ['run', 'other'].map((name) => join(root, 'scratch', name));
    await Promise.all([run, other].map((folder) => mkdir(folder, { recursive: true, mode: 0o755 })));
    await writeFile(join(other, 'file'), 'a planted file', { mode: 0o666 });
    await chmod(join(other, 'file'), 0o666);
    if (sandbox.protections.other_user) await chown(run, USER.uid, USER.gid);
    return run;
  };

  test('finds no file of the data folder, and changes none', async ({ skip }) => {
    skip(!sandbox.protections.hidden_data, 'not offered by this system');
    const cwd = await plant(data);
    const { output } = await inside(WALK_UP, { cwd });
    expect(output).not.toMatch(/planted|changed|secrets/);
    expect(await readFile(join(data, 'scratch/other/file'), 'utf8')).toBe('a planted file');
  });

  test('writes to its own folder and to temporary folders of its own, and nowhere else', async ({ skip }) => {
    skip(!sandbox.protections.read_only_files, 'not offered by this system');
    const elsewhere = await mkdtemp(join(import.meta.dirname, 'writable-'));
    await chmod(elsewhere, 0o777);
    const cwd = await plant(await mkdtemp(join(data, 'own-')));
    await chmod(join(cwd, '../..'), 0o755);
    const script = `echo made >out; echo made >/tmp/out && cat /tmp/out; echo made >'${elsewhere}/out'`;
    const { output } = await inside(script, { cwd });
    expect(await readdir(elsewhere)).toEqual([]);
    await rm(elsewhere, { recursive: true });
    expect(output).toBe('made');
    expect(await readdir(cwd)).toEqual(['out']);
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
  test('code that another user cannot read runs as the own user without privileges', async () => {
    const closed = await mkdtemp(join(tmpdir(), 'mediary-closed-'));
    const script = join(closed, 'script.sh');
    await writeFile(script, 'echo ran');
    const weaker = await detectSandbox({ hidden: [data], readable: [script], user: USER });
    expect(weaker.protections.other_user).toBe(false);
    expect((await inside(`sh '${script}'`, { in: weaker })).output).toBe('ran');
    expect((await inside(`cat '${data}/secrets.json'`, { in: weaker })).output).toBe('');
  });
  test.skipIf(!IS_ROOT)('also protects a service that does not run as root', async ({ skip }) => {
    skip(!sandbox.protections.other_user, UNREADABLE);
    const own = await mkdtemp(join(tmpdir(), 'mediary-sandbox-'));
    await writeFile(join(own, 'secrets.json'), 'a planted secret', { mode: 0o600 });
    await mkdir(join(own, 'scratch/run'), { recursive: true });
    await mkdir(join(own, 'scratch/other'));
    await writeFile(join(own, 'scratch/other/file'), 'a planted file', { mode: 0o600 });
    for (const path of ['', 'secrets.json', 'scratch', 'scratch/run', 'scratch/other', 'scratch/other/file'])
      await chown(join(own, path), 4321, 4321);
    const script = `
      import { detectSandbox } from ${JSON.stringify(new URL('./detect-sandbox.ts', import.meta.url).href)};
      import { execFileSync } from 'node:child_process';
      import { readFileSync } from 'node:fs';
      const sandbox = await detectSandbox({
        hidden: ['${own}'], readable: [process.execPath], user: ${JSON.stringify(USER)},
      });
      const seen = (script, cwd = '/') => {
        const shell = { file: '/bin/sh', args: ['-c', script] };
        const { file, args } = sandbox.command(shell, ${JSON.stringify(LIMITS)});
        try {
          return execFileSync(file, args, { env: {}, cwd, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
        } catch { return 'refused'; }
      };
      console.log(JSON.stringify({
        ...sandbox.protections,
        own: readFileSync('${own}/secrets.json', 'utf8'),
        secret: seen("cat '${own}/secrets.json'"),
        environment: seen('cat /proc/' + process.pid + '/environ'),
        above: seen(${JSON.stringify(WALK_UP)}, '${own}/scratch/run'),
        file: readFileSync('${own}/scratch/other/file', 'utf8'),
      }));`;
    const { stdout } = await promisify(execFile)('setpriv', [
      ...['--reuid=4321', '--regid=4321', '--clear-groups', process.execPath],
      ...['--input-type=module', '--eval', script],
    ]);
    const report = JSON.parse(stdout) as Record<string, unknown>;
    expect(report).toMatchObject({
      limits: true,
      no_new_privileges: true,
      no_capabilities: true,
      other_user: false,
    });
    // Without user namespaces these protections are reported as missing.
    expect(report).toMatchObject({
      own: 'a planted secret',
      secret: report['hidden_data'] ? 'refused' : 'a planted secret',
      environment: report['no_network'] ? 'refused' : expect.any(String),
    });
    if (report['hidden_data']) {
      expect(report['above']).not.toMatch(/planted|changed|secrets/);
      expect(report['file']).toBe('a planted file');
    }
  });
});
