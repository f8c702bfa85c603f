// Reads the service's source files and their imports with regular expressions.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** `path` below service/src and without `.ts`; `feature` is its first folder, empty for the files at the root. */
export type SourceFile = { readonly path: string; readonly feature: string; readonly text: string };
/** `values`: the names that are more than types; `to`: the file, where it is one of ours. */
export type Import = {
  readonly from: SourceFile;
  readonly target: string;
  readonly to: SourceFile | undefined;
  readonly values: readonly string[];
};

const ROOT = join(import.meta.dirname, '../..');
const SOURCE = 'service/src/';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const paths = globSync(`${SOURCE}**/*.ts`, { cwd: ROOT }).sort();

export const files: readonly SourceFile[] = paths
  .filter((path) => !path.endsWith('.test.ts'))
  .map((file) => {
    const path = file.slice(SOURCE.length, -'.ts'.length);
    return { path, feature: path.includes('/') ? path.replace(/\/.*/, '') : '', text: read(file) };
  });

/** The words of all tests and of what only they use. */
export const testTexts: readonly string[] = [
  ...paths.filter((path) => path.endsWith('.test.ts')),
  ...globSync('test/**/*.ts', { cwd: ROOT, exclude: ['test/clients/node_modules'] }),
].map(read);

const byPath = new Map(files.map((file) => [file.path, file]));

const STATEMENT = /^\s*(?:import|export)\s+(?:(type\s+)?([\w*{][^'"=;]*?)\s+from\s+)?['"]([^'"]+)['"]/gm;
/** A module or a worker's script that is named in the middle of the code. */
const CALL = /\b(?:import|require|new URL)\(\s*['"]([^'"]+)['"]/g;

export const imports: readonly Import[] = files.flatMap((from) => [
  ...Array.from(from.text.matchAll(STATEMENT), ([, type, names = 'everything', target = '']) =>
    found(from, target, type ? [] : valuesOf(names)),
  ),
  ...Array.from(from.text.matchAll(CALL), ([, target = '']) => found(from, target, ['everything'])).filter(
    ({ to, target }) => to || !target.startsWith('.'),
  ),
]);

function found(from: SourceFile, target: string, values: readonly string[]): Import {
  const to = target.startsWith('.')
    ? byPath.get(join(dirname(from.path), target).replace(/\.ts$/, ''))
    : undefined;
  return { from, target, to, values };
}

function valuesOf(names: string): readonly string[] {
  return names.replace(/\btype \w+/g, '').match(/\w+/g) ?? [];
}

/** The paths of the files that a file needs, whatever the way. */
export function neededBy(start: string): ReadonlySet<string> {
  const needed = new Set([start]);
  for (const path of needed)
    for (const { from, to } of imports) if (to && from.path === path) needed.add(to.path);
  return needed;
}
