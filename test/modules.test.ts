// Rules for all modules: no dead exports, no re-exports, no small files with a single importer.
import { describe, expect, test } from 'vitest';
import { modules, parseModule, type SourceModule } from './support/tree/modules.ts';

/** Public names of published packages, which may come from other files. */
const PUBLIC_ENTRIES = [
  'packages/client/src/index.ts',
  'packages/client/src/images.ts',
  'packages/client/src/payload.ts',
  'packages/client/src/server.ts',
  'packages/elements/src/react.ts',
  'packages/elements/src/uploader.ts',
  'packages/testing/src/start-mediary.ts',
];

/** Holds a type for each schema, whether or not another file needs it. */
const GENERATED = /^packages\/client\/src\/api\//;

/** Loaded by name or address by the tools that they configure. */
const ENTRY_POINTS = [
  '.ci/reporter.js',
  'docs/.vitepress/config.ts',
  ...PUBLIC_ENTRIES,
  'packages/elements/src/player.ts',
  'test/mutation/vitest.config.ts',
  'test/s3/s3-server.setup.ts',
  'test/support/postgres/server.setup.ts',
  'vitest.config.ts',
];

/** Exports of files without a test of their own that only tests use. */
const FOR_TESTS: Readonly<Record<string, readonly string[]>> = {
  'service/src/service.ts': ['RunningService', 'TestOverrides', 'startService'],
  'service/src/jobs.ts': ['JOB_SETTINGS'],
  'service/src/tables.ts': ['TABLES'],
  'service/src/storage/object-store.ts': ['ObjectStoreErrorReason'],
  'service/src/storage/disk/incoming.ts': ['writeFully'],
  'service/src/uploads/original/store-original.ts': ['OriginalNeeds'],
  'service/src/storage/s3-object-store.ts': ['S3ObjectStore'],
  'deploy/cluster/ceph.ts': ['StartDaemon'],
};

const MAX_LINES = 250;
const SMALL = 25;
/** Files that are found by their role stay apart: SQL, routes, jobs, adapters, commands and scripts. */
const STANDS_ALONE = [
  /(?:\/(?:feature|context|settings)|\.(?:sql|routes|job|worker|fixture|contract|test))\.ts$/,
  /\/commands\//,
  /-(?:callback|encoder|image-processor|object-store|probe|provider)\.ts$/,
];

const isTest = ({ path }: SourceModule): boolean =>
  /^(?:test|simulators|bench)\/|\.(?:test|fixture|contract)\.ts$/.test(path);

const countLines = ({ text }: SourceModule): number => text.split('\n').length - 1;

function hasOwnTest({ path }: SourceModule, all: readonly SourceModule[]): boolean {
  const stem = path.replace(/ts$/, '');
  return all.some((other) => other.path.startsWith(stem) && other.path.endsWith('.test.ts'));
}

type Use = { readonly user: SourceModule; readonly path: string; readonly names: readonly string[] };

function findDeadExports(all: readonly SourceModule[]): string[] {
  const uses = Map.groupBy(
    all.flatMap((user) => user.imports.map(({ path, names }): Use => ({ user, path, names }))),
    ({ path }) => path,
  );
  const sources = all.filter((module) => !isTest(module));
  return all
    .filter(({ path }) => !ENTRY_POINTS.includes(path) && !GENERATED.test(path))
    .flatMap((module) => {
      const used = uses.get(module.path) ?? [];
      const countsTests = isTest(module) || hasOwnTest(module, all);
      return module.exports
        .filter((name) => {
          const isForTests = countsTests || FOR_TESTS[module.path]?.includes(name);
          return !used.some((use) => (isForTests || !isTest(use.user)) && isUseOf(name, use, sources));
        })
        .map((name) => `${module.path}: ${name}`);
    });
}

/** `feature.ts` passes whole modules on: their members are used where another file names them. */
function isUseOf(name: string, { names, path }: Use, sources: readonly SourceModule[]): boolean {
  if (names.includes(name)) return true;
  return names.includes('*') && sources.some((other) => other.path !== path && other.identifiers.has(name));
}

function findMergeable(all: readonly SourceModule[]): string[] {
  return all
    .filter((module) => countLines(module) < SMALL && !STANDS_ALONE.some((form) => form.test(module.path)))
    .filter((module) => !hasOwnTest(module, all) && !GENERATED.test(module.path))
    .flatMap((module) => {
      const users = all.filter((user) => user.imports.some(({ path }) => path === module.path));
      const importers = users.filter((user) => isTest(module) || !isTest(user));
      const [importer] = importers;
      if (!importer || importers.length > 1) return [];
      return countLines(importer) + countLines(module) > MAX_LINES
        ? []
        : [`${module.path} → ${importer.path}`];
    });
}

describe('dead exports', () => {
  const user = parseModule(
    'a/user.ts',
    "import { used, type Used } from './library.ts'; used satisfies Used;",
  );
  const library = (text: string): SourceModule => parseModule('a/library.ts', text);

  test('are exports that no other file imports', () => {
    const text =
      'export const used = 1, dead = 2; export type Used = number; export type Dead = typeof dead;';
    expect(findDeadExports([library(text), user])).toEqual(['a/library.ts: dead', 'a/library.ts: Dead']);
  });

  test('are exports that only tests of other files import', () => {
    const tested = library('export function check() {}');
    const importing = "import { check } from './library.ts'; check();";
    const other = parseModule('a/other.test.ts', importing);
    expect(findDeadExports([tested, other])).toEqual(['a/library.ts: check']);
    expect(findDeadExports([tested, parseModule('a/library.test.ts', importing)])).toEqual([]);
  });

  test('are members of a namespace import that no file mentions', () => {
    const names = library('export function read() {} export function write() {}');
    const namespace = parseModule('a/user.ts', "import * as store from './library.ts'; store.read();");
    expect(findDeadExports([names, namespace])).toEqual(['a/library.ts: write']);
  });

  test('do not exist', () => {
    expect(findDeadExports(modules)).toEqual([]);
  });
});

test('no file but the entry of a published package exports from another file', () => {
  const found = modules.filter(
    ({ path, reExports }) => reExports.length > 0 && !PUBLIC_ENTRIES.includes(path),
  );
  expect(found.map(({ path }) => path)).toEqual([]);
});

test('a file of fewer than 25 lines with one importer and no test of its own joins that importer', () => {
  expect(findMergeable(modules)).toEqual([]);
});

test('each exported type of the service has a name of its own', () => {
  const names = modules
    .filter(({ path }) => path.startsWith('service/src/'))
    .flatMap(({ text }) => [...text.matchAll(/^export type (\w+)/gm)].map(([, name]) => name));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
