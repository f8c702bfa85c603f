// Bundles the sources of the service, which then loads in less than half the time. The bundle is made when
// a source has changed, and kept for the next runs.
import { createHash } from 'node:crypto';
import fs, { statSync } from 'node:fs';
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
/** The published package has JavaScript, and the bundle. */
const IS_BUILT = import.meta.filename.endsWith('.js');
const DAY_MS = 86_400_000;

/** Returns the program of the service. */
export async function prepareServiceProgram(): Promise<URL> {
  if (IS_BUILT) return new URL('../bundle/service-host.program.js', import.meta.url);
  const bundle = join(CACHE, hashSources());
  const program = join(bundle, 'service-host.program.js');
  if (!statSync(program, { throwIfNoEntry: false })) {
    await mkdir(CACHE, { recursive: true });
    await removeOldBundles();
    await createOnce(bundle, writeBundle);
  }
  return pathToFileURL(program);
}

/**
 * Of the names, sizes and times of all sources: to read them all would take longer. Node 20 has no `globSync`
 * to import, and must come as far as the message of `startMediary`.
 */
function hashSources(): string {
  const hash = createHash('sha256');
  for (const path of fs
    .globSync(SOURCES, { cwd: ROOT, exclude: ['**/*.test.ts', '**/node_modules'] })
    .sort()) {
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

const writeBundle = (folder: string): Promise<void> =>
  bundleProgram(ENTRY, folder, (name, id) =>
    JSON.stringify({ url: pathToFileURL(id).href, filename: id, dirname: dirname(id) }[name]),
  );

const MANIFEST_IMPORT = /^import (\w+) from '(\.[^']+\/package\.json)' with \{ type: 'json' \};$/m;

type PlaceName = 'url' | 'filename' | 'dirname';

/**
 * Packages of the registry stay where they are, and so do files that the sources name by their place:
 * `toPlace` returns the code that stands for `import.meta.url` and others of a source.
 */
export async function bundleProgram(
  entry: string,
  folder: string,
  toPlace: (name: PlaceName, id: string) => string,
): Promise<void> {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    external: (id) => !/^(?:[./]|@mediary\/)/.test(id),
    plugins: [
      {
        name: 'places-of-sources',
        transform: (code, id) =>
          code
            .replaceAll(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, name: PlaceName) =>
              toPlace(name, id),
            )
            // A release writes its version into the manifests after the build.
            .replace(MANIFEST_IMPORT, (_, name: string, source: string) => {
              const place = toPlace('filename', join(dirname(id), source));
              const text = `process.getBuiltinModule('node:fs').readFileSync(${place}, 'utf8')`;
              return `const ${name} = JSON.parse(${text});`;
            }),
      },
    ],
  });
  await bundle.write({ dir: folder, format: 'esm' });
  await bundle.close();
}
