// Builds the package that is published, as JavaScript with types: `npm run build -w @mediary/client`, then
// `npm pack ./packages/client/dist`. Inside the repository the sources are imported as they are.
import { execFile } from 'node:child_process';
import { copyFile, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HERE = import.meta.dirname;
const folder = process.argv[2] ?? join(HERE, 'dist');

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const tsc = join(HERE, '../../node_modules/typescript/bin/tsc');
const project = join(HERE, 'tsconfig.build.json');
await promisify(execFile)(process.execPath, [tsc, '-p', project, '--outDir', folder]).catch(
  (error: { readonly stdout: string }) => {
    throw new Error(`tsc failed:\n${error.stdout}`);
  },
);
for await (const path of glob('**/*', { cwd: folder })) {
  const file = join(folder, path);
  // The compiler leaves the extensions in declarations as they are.
  if (path.endsWith('.d.ts'))
    await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"));
  // Files of types alone have no code.
  if (path.startsWith('api/') && path.endsWith('.js')) await rm(file);
}

const {
  private: _private,
  scripts: _scripts,
  ...manifest
} = JSON.parse(await readFile(join(HERE, 'package.json'), 'utf8'));
const toBuilt = (source: string) => ({
  types: source.replace('./src/', './').replace(/ts$/, 'd.ts'),
  default: source.replace('./src/', './').replace(/ts$/, 'js'),
});
const exported = Object.entries<string>(manifest.exports).map(([name, source]) => [name, toBuilt(source)]);
await writeFile(
  join(folder, 'package.json'),
  `${JSON.stringify({ ...manifest, exports: Object.fromEntries(exported) }, undefined, 2)}\n`,
);
await copyFile(join(HERE, 'README.md'), join(folder, 'README.md'));
await copyFile(join(HERE, '../../LICENSE'), join(folder, 'LICENSE'));
