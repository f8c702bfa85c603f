// Bundles the sources of the service, which then loads in less than half the time. The bundle is made when
// a source has changed, and kept for the next runs.
import { createHash } from 'node:crypto';
import { globSync, statSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createOnce } from './create-once.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CACHE = join(ROOT, 'node_modules/.cache/mediary-testing');
const ENTRY = join(import.meta.dirname, 'service-host.program.ts');
const SOURCES = [
  '{service,packages/*}/package.json',
  '{service,packages/*}/src/**/*.ts',
  'package-lock.json',
];
const DAY_MS = 86_400_000;

/** Returns the program of the service. */
export async function prepareServiceProgram(): Promise<URL> {
  const bundle = join(CACHE, hashSources());
  const program = join(bundle, 'service-host.program.js');
  if (!statSync(program, { throwIfNoEntry: false })) {
    await mkdir(CACHE, { recursive: true });
    await removeOldBundles();
    await createOnce(bundle, writeBundle);
  }
  return pathToFileURL(program);
}

/** Of the names, sizes and times of all sources: to read them all would take longer. */
function hashSources(): string {
  const hash = createHash('sha256');
  for (const path of globSync(SOURCES, { cwd: ROOT, exclude: ['**/*.test.ts', '**/node_modules'] }).sort()) {
    const { size, mtimeMs } = statSync(join(ROOT, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

async function removeOldBundles(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const { mtimeMs } = await stat(join(CACHE, name)).catch(() => ({ mtimeMs: Date.now() }));
    if (mtimeMs < Date.now() - DAY_MS) await rm(join(CACHE, name), { recursive: true, force: true });
  }
}

/** Packages of the registry stay where they are, and so do files that the sources name by their place. */
async function writeBundle(folder: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'node',
    external: (id) => !/^(?:[./]|@mediary\/)/.test(id),
    plugins: [
      {
        name: 'places-of-sources',
        transform: (code, id) => {
          if (!code.includes('import.meta.')) return undefined;
          const places = { url: pathToFileURL(id).href, filename: id, dirname: dirname(id) };
          return code.replaceAll(
            /\bimport\.meta\.(url|filename|dirname)\b/g,
            (_, name: keyof typeof places) => JSON.stringify(places[name]),
          );
        },
      },
    ],
  });
  await bundle.write({ dir: folder, format: 'esm' });
  await bundle.close();
}
