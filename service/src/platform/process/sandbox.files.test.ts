// Tests which files a sandboxed program can reach from its working folder, as root and as another user.
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { detectSandbox } from './detect-sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { IS_ROOT, LIMITS, runInside, USER } from './sandbox.fixture.ts';

const run = promisify(execFile);
const IS_LINUX = process.platform === 'linux';

let data: string;
let sandbox: Sandbox;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'mediary-sandbox-'));
  await chmod(data, 0o755);
  await writeFile(join(data, 'secrets.json'), 'a planted secret', { mode: 0o600 });
  sandbox = await detectSandbox({ hidden: [data], readable: [process.execPath], user: USER });
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
    const { output } = await runInside(sandbox, WALK_UP, { cwd });
    expect(output).not.toMatch(/planted|changed|secrets/);
    expect(await readFile(join(data, 'scratch/other/file'), 'utf8')).toBe('a planted file');
  });

  test('starts while a disk is mounted below the data folder, and does not find it', async ({ skip }) => {
    skip(!IS_ROOT || !sandbox.protections.read_only_files, 'needs the right to mount');
    const cwd = await plant(data);
    const disk = join(data, 'disk');
    await mkdir(disk, { recursive: true });
    await run('mount', ['-t', 'tmpfs', 'tmpfs', disk]);
    try {
      const { output } = await runInside(sandbox, `ls '${disk}' 2>/dev/null; echo started`, { cwd });
      expect(output).toBe('started');
    } finally {
      await run('umount', [disk]);
    }
  });

  test('writes to its own folder and to temporary folders of its own, and nowhere else', async ({ skip }) => {
    skip(!sandbox.protections.read_only_files, 'not offered by this system');
    const elsewhere = await mkdtemp(join(import.meta.dirname, 'writable-'));
    await chmod(elsewhere, 0o777);
    const cwd = await plant(await mkdtemp(join(data, 'own-')));
    await chmod(join(cwd, '../..'), 0o755);
    const script = `echo made >out; echo made >/tmp/out && cat /tmp/out; echo made >'${elsewhere}/out'`;
    const { output } = await runInside(sandbox, script, { cwd });
    expect(await readdir(elsewhere)).toEqual([]);
    await rm(elsewhere, { recursive: true });
    // A folder that contains the programs of decoders is not replaced, and is read-only.
    expect(output).toBe(process.execPath.startsWith('/tmp/') ? '' : 'made');
    expect(await readdir(cwd)).toEqual(['out']);
  });
});

/** Runs as another user, and prints the protections and what decoders see. */
const reportScript = (own: string) => `
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

test.skipIf(!IS_LINUX || !IS_ROOT)(
  'a service that does not run as root is protected too',
  async ({ skip }) => {
    skip(!sandbox.protections.other_user, 'other users cannot read this checkout');
    const own = await mkdtemp(join(tmpdir(), 'mediary-sandbox-'));
    await writeFile(join(own, 'secrets.json'), 'a planted secret', { mode: 0o600 });
    await mkdir(join(own, 'scratch/run'), { recursive: true });
    await mkdir(join(own, 'scratch/other'));
    await writeFile(join(own, 'scratch/other/file'), 'a planted file', { mode: 0o600 });
    for (const path of ['', 'secrets.json', 'scratch', 'scratch/run', 'scratch/other', 'scratch/other/file'])
      await chown(join(own, path), 4321, 4321);

    const { stdout } = await run('setpriv', [
      ...['--reuid=4321', '--regid=4321', '--clear-groups', process.execPath],
      ...['--input-type=module', '--eval', reportScript(own)],
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
  },
);
