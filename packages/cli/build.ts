// Builds the package that is published, as JavaScript: `npm run build -w @mediary/cli`, then
// `npm pack ./packages/cli/dist`. Inside the repository the sources run as they are.
import { execFile } from 'node:child_process';
import { chmod, copyFile, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const HERE = import.meta.dirname;
const folder = process.argv[2] ?? join(HERE, 'dist');

await rm(folder, { recursive: true, force: true });
await buildSources(HERE, folder);
for await (const path of glob('**/*.json', { cwd: join(HERE, 'src') }))
  await copyFile(join(HERE, 'src', path), join(folder, 'dist', path));

const {
  private: _private,
  scripts: _scripts,
  ...manifest
} = JSON.parse(await readFile(join(HERE, 'package.json'), 'utf8'));
// The checks are private, so they come in the package.
const checks = join(folder, 'node_modules/@mediary/checks');
await buildSources(join(HERE, '../checks'), checks);
const own = { name: '@mediary/checks', version: manifest.version, type: 'module' };
const checksManifest = { ...own, exports: { './*': './dist/*.js' } };
await writeFile(join(checks, 'package.json'), `${JSON.stringify(checksManifest)}\n`);
// The SDK comes in the package, so that one file installs the command; npm installs what the SDK needs.
const client = join(folder, 'node_modules/@mediary/client');
await promisify(execFile)(process.execPath, [join(HERE, '../client/build.ts'), client]);
const { dependencies: clientDependencies } = JSON.parse(await readFile(join(client, 'package.json'), 'utf8'));
const published = {
  ...manifest,
  dependencies: { ...manifest.dependencies, ...clientDependencies },
  bundleDependencies: ['@mediary/client', '@mediary/checks'],
};
await writeFile(join(folder, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
await mkdir(join(folder, 'bin'));
await copyFile(join(HERE, 'bin/mediary.js'), join(folder, 'bin/mediary.js'));
await chmod(join(folder, 'bin/mediary.js'), 0o755);
await copyFile(join(HERE, 'README.md'), join(folder, 'README.md'));
await copyFile(join(HERE, '../../LICENSE'), join(folder, 'LICENSE'));

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
