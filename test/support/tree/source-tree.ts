// The service's source files and their imports.
import { modules, type SourceModule } from './modules.ts';

/**
 * `path` below service/src and without `.ts`; `feature` is its first folder, empty for the files at the root.
 */
export type SourceFile = { readonly path: string; readonly feature: string; readonly text: string };
/** `values`: the names that are more than types; `to`: the imported file of the service. */
export type Import = {
  readonly from: SourceFile;
  readonly target: string;
  readonly to: SourceFile | undefined;
  readonly values: readonly string[];
};

const SOURCE = 'service/src/';
const isTest = ({ path }: SourceModule): boolean => path.endsWith('.test.ts');
const sources = modules.filter((module) => module.path.startsWith(SOURCE) && !isTest(module));

const byPath = new Map(sources.map((module) => [module.path, toSourceFile(module)]));

export const files: readonly SourceFile[] = [...byPath.values()];

/** The source text of all tests and of their support files. */
export const testTexts: readonly string[] = modules
  .filter((module) => isTest(module) || module.path.startsWith('test/'))
  .map(({ text }) => text);

export const imports: readonly Import[] = sources.flatMap((module) =>
  module.imports.map(({ target, path, values }) => ({
    from: toSourceFile(module),
    target,
    to: byPath.get(path),
    values,
  })),
);

function toSourceFile({ path, text }: SourceModule): SourceFile {
  const [feature = '', ...rest] = path.slice(SOURCE.length, -'.ts'.length).split('/');
  return rest.length > 0
    ? { path: [feature, ...rest].join('/'), feature, text }
    : { path: feature, feature: '', text };
}

/** The paths of the files that a file imports, directly or through others. */
export function neededBy(start: string): ReadonlySet<string> {
  const needed = new Set([start]);
  for (const path of needed)
    for (const { from, to } of imports) if (to && from.path === path) needed.add(to.path);
  return needed;
}
