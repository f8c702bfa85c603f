// Builds the package of a command as JavaScript, with the private packages that it contains.
import { execFile } from 'node:child_process';
import { chmod, copyFile, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');

/** `from`: the folder of the workspace. `bin`: its program below `bin/`. */
type CommandPackage = { readonly from: string; readonly to: string; readonly bin: string };

export async function buildCommand({ from, to, bin }: CommandPackage): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await buildSources(from, to);
  for await (const path of glob('**/*.json', { cwd: join(from, 'src') }))
    await copyFile(join(from, 'src', path), join(to, 'dist', path));
  const {
    private: _private,
    scripts: _scripts,
    ...manifest
  } = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'));
  // The checks are private, so they come in the package.
  const checks = join(to, 'node_modules/@mediary/checks');
  await buildSources(join(ROOT, 'packages/checks'), checks);
  const own = { name: '@mediary/checks', version: manifest.version, type: 'module' };
  const checksManifest = { ...own, exports: { './*': './dist/*.js' } };
  await writeFile(join(checks, 'package.json'), `${JSON.stringify(checksManifest)}\n`);
  // The SDK comes in the package, so that one file installs the command; npm installs what the SDK needs.
  const client = join(to, 'node_modules/@mediary/client');
  await promisify(execFile)(process.execPath, [join(ROOT, 'packages/client/build.ts'), client]);
  const { dependencies } = JSON.parse(await readFile(join(client, 'package.json'), 'utf8'));
  const published = {
    ...manifest,
    dependencies: { ...manifest.dependencies, ...dependencies },
    bundleDependencies: ['@mediary/client', '@mediary/checks'],
  };
  await writeFile(join(to, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
  await mkdir(join(to, 'bin'));
  await copyFile(join(from, 'bin', bin), join(to, 'bin', bin));
  await chmod(join(to, 'bin', bin), 0o755);
  await copyFile(join(from, 'README.md'), join(to, 'README.md'));
  await copyFile(join(ROOT, 'LICENSE'), join(to, 'LICENSE'));
}

/** A command needs no declarations, so that types can be removed without resolving imports. */
async function buildSources(from: string, to: string): Promise<void> {
  for await (const path of glob('**/*.ts', { cwd: join(from, 'src') })) {
    if (/\.(?:test|fixture)\.ts$/.test(path)) continue;
    const source = await readFile(join(from, 'src', path), 'utf8');
    const target = join(to, 'dist', path.replace(/ts$/, 'js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, stripTypeScriptTypes(source).replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"));
  }
}
