// The package @mediary/cli as it is published: its files, and that it runs by itself.
import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

let project: string;
let installed: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'mediary-cli-package-'));
  await run(process.execPath, join(ROOT, 'packages/cli/build.ts'), join(project, 'built'));
  await run('npm', 'pack', './built');
  await run('tar', '-xzf', 'mediary-cli-0.1.0.tgz');
  installed = join(project, 'node_modules/@mediary/cli');
  await mkdir(join(project, 'node_modules/@mediary'), { recursive: true });
  await rename(join(project, 'package'), installed);
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies).filter((each) => each !== '@mediary/client'))
    await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
});
afterAll(() => rm(project, { recursive: true, force: true }));

const run = async (file: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(file, args, { cwd: project, env: { ...process.env, HOME: project } })).stdout;

test('it has no test code and no TypeScript but the declarations of the SDK', async () => {
  const files = await readdir(installed, { recursive: true });
  expect(files.filter((name) => /\.(?:test|fixture)\./.test(name))).toEqual([]);
  expect(files.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'bin/mediary.js', 'dist/main.js']));
});

test('the SDK is inside, so that the one file runs with the packages of the registry', async () => {
  const program = join(installed, 'bin/mediary.js');
  expect(await run(process.execPath, program, '--version')).toBe('0.1.0\n');
  expect(await run(process.execPath, program, 'config', 'show')).toContain('http://127.0.0.1:8080');
});
