// Builds the package that is published, as JavaScript with types: `npm run build -w @mediary/client`, then
// `npm pack ./packages/client/dist`. Inside the repository the sources are imported as they are.
import { execFile } from 'node:child_process';
import { copyFile, cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const HERE = import.meta.dirname;
const folder = process.argv[2] ?? join(HERE, 'dist');

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const tsc = join(HERE, '../../node_modules/typescript/bin/tsc');
const project = join(HERE, 'tsconfig.build.json');
const compiled = join(folder, 'compiled');
await promisify(execFile)(process.execPath, [tsc, '-p', project, '--outDir', compiled]).catch(
  (error: { readonly stdout: string }) => {
    throw new Error(`tsc failed:\n${error.stdout}`);
  },
);
/** Private packages of the repository come in this one, in folders of their names. */
const PRIVATE = ['contract', 'media-rules'];
await cp(join(compiled, 'client/src'), folder, { recursive: true });
for (const name of PRIVATE) await cp(join(compiled, name, 'src'), join(folder, name), { recursive: true });
await rm(compiled, { recursive: true });
for await (const path of glob('**/*.{js,d.ts}', { cwd: folder })) {
  const file = join(folder, path);
  // Files of types alone have no code.
  if (path.startsWith('api/') && path.endsWith('.js')) await rm(file);
  else await writeFile(file, linkPrivate(await readFile(file, 'utf8'), path));
}

/** The compiler leaves the names of packages as they are, and the extensions in declarations. */
function linkPrivate(text: string, path: string): string {
  const root = relative(dirname(path), '') || '.';
  const names = RegExp(`(from )'@mediary/(${PRIVATE.join('|')})/([^']+)'`, 'g');
  return text.replaceAll(names, `$1'${root}/$2/$3.js'`).replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'");
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
const dependencies = Object.fromEntries(
  Object.entries(manifest.dependencies).filter(([name]) => !name.startsWith('@mediary/')),
);
const published = { ...manifest, exports: Object.fromEntries(exported), dependencies };
await writeFile(join(folder, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
await copyFile(join(HERE, 'README.md'), join(folder, 'README.md'));
await copyFile(join(HERE, '../../LICENSE'), join(folder, 'LICENSE'));
