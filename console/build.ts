// Builds the console where a source changed since the last build: `npm run build -w console`.
import { createHash } from 'node:crypto';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const STAMP = join(HERE, 'dist/sources.sha256');
const SOURCES = [
  'index.html',
  'package.json',
  'vite.config.ts',
  'src/**/*.{ts,tsx,css}',
  '../packages/client/src/**/*.ts',
  '../packages/contract/src/*.ts',
];

/** Of the names and contents of all sources. */
async function hashSources(): Promise<string> {
  const paths: string[] = [];
  for await (const path of glob(SOURCES, { cwd: HERE })) paths.push(path);
  const sha256 = createHash('sha256');
  for (const path of paths.sort()) sha256.update(`${path}\n`).update(await readFile(join(HERE, path)));
  return sha256.digest('hex');
}

const current = await hashSources();
if ((await readFile(STAMP, 'utf8').catch(() => '')) !== current) await buildConsole();

/** An installation without development dependencies serves what was built before. */
async function buildConsole(): Promise<void> {
  if (!isInstalled('vite')) {
    console.warn('The console is not built: run npm ci without --omit=dev, which leaves out vite.');
    return;
  }
  const { build } = await import('vite');
  await build({ root: HERE, configFile: join(HERE, 'vite.config.ts'), logLevel: 'error' });
  await writeFile(STAMP, current);
}

function isInstalled(name: string): boolean {
  try {
    return import.meta.resolve(name) !== '';
  } catch {
    return false;
  }
}
