// Builds the package that is published, as JavaScript with types: `npm run build -w @mediary/elements`. Its
// folder `browser` has the elements with all that they import, for pages without a bundler and the service.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HERE = import.meta.dirname;
const folder = process.argv[2] ?? join(HERE, 'dist');
const STAMP = join(folder, 'sources.sha256');
const SOURCES = [
  'build.ts',
  'package.json',
  'tsconfig.build.json',
  'README.md',
  'src/**/*.ts',
  '../client/src/**/*.ts',
  '../media-rules/src/**/*.ts',
];
/** The elements, one script each. */
const BROWSER_ENTRIES = ['player', 'uploader'];

const current = await hashSources();
if ((await readFile(STAMP, 'utf8').catch(() => '')) !== current) await buildPackage();

/** Of the names and contents of all sources. */
async function hashSources(): Promise<string> {
  const paths: string[] = [];
  for await (const path of glob(SOURCES, { cwd: HERE })) paths.push(path);
  const sha256 = createHash('sha256');
  for (const path of paths.sort()) sha256.update(`${path}\n`).update(await readFile(join(HERE, path)));
  return sha256.digest('hex');
}

/**
 * An installation without development dependencies serves what was built before. The image of the service
 * needs the scripts for browsers alone, and has no compiler.
 */
async function buildPackage(): Promise<void> {
  if (!isInstalled('rolldown')) {
    console.warn('The elements are not built: rolldown is a development dependency.');
    return;
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const modules = isInstalled('typescript/package.json') ? [buildModules(), writeManifest()] : [];
  await Promise.all([buildBrowserScripts(), ...modules]);
  await writeFile(STAMP, current);
}

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== '';
  } catch {
    return false;
  }
}

/** One script for each element, and chunks that it loads when it needs them. */
async function buildBrowserScripts(): Promise<void> {
  const { rolldown } = await import('rolldown');
  const input = Object.fromEntries(BROWSER_ENTRIES.map((name) => [name, join(HERE, `src/${name}.ts`)]));
  const bundle = await rolldown({ input, platform: 'browser' });
  await bundle.write({
    dir: join(folder, 'browser'),
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
}

async function buildModules(): Promise<void> {
  const tsc = join(HERE, '../../node_modules/typescript/bin/tsc');
  const project = join(HERE, 'tsconfig.build.json');
  await promisify(execFile)(process.execPath, [tsc, '-p', project, '--outDir', folder]).catch(
    (error: { readonly stdout: string }) => {
      throw new Error(`tsc failed:\n${error.stdout}`);
    },
  );
  // The compiler leaves the extensions in declarations as they are.
  for await (const path of glob('**/*.d.ts', { cwd: folder })) {
    const file = join(folder, path);
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replaceAll(/((?:from |import\()'\.[^']+)\.ts'/g, "$1.js'"),
    );
  }
}

async function writeManifest(): Promise<void> {
  const {
    private: _private,
    scripts: _scripts,
    devDependencies: _devDependencies,
    ...manifest
  } = JSON.parse(await readFile(join(HERE, 'package.json'), 'utf8'));
  const toBuilt = (source: string) => ({
    types: source.replace('./src/', './').replace(/ts$/, 'd.ts'),
    default: source.replace('./src/', './').replace(/ts$/, 'js'),
  });
  const exported = Object.entries<string>(manifest.exports).map(([name, source]) => [name, toBuilt(source)]);
  const exports = { ...Object.fromEntries(exported), './browser/*': './browser/*' };
  const sideEffects = manifest.sideEffects.map((path: string) => path.replace(/^\.\/src\/(.*)ts$/, './$1js'));
  await writeFile(
    join(folder, 'package.json'),
    `${JSON.stringify({ ...manifest, exports, sideEffects }, undefined, 2)}\n`,
  );
  await copyFile(join(HERE, 'README.md'), join(folder, 'README.md'));
  await copyFile(join(HERE, '../../LICENSE'), join(folder, 'LICENSE'));
}
