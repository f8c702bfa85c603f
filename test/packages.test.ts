// Packages are independent of the service: their sources import declared packages and their own files only.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const packages = globSync('packages/*/package.json', { cwd: ROOT }).map((path) => dirname(path));
const IMPORT = /^\s*(?:import|export)\s[^'";]*?from\s+['"]([^'"]+)['"]/gm;
/** Tests may use the root's tools. */
const TEST_FILE = /\.(?:test|fixture|contract)\.ts$/;

/** Packages whose sources run in browsers: no module of Node. */
const FOR_BROWSERS = ['packages/client', 'packages/elements', 'packages/media-rules'];

type Manifest = {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
};

function findForeignImports(folder: string): string[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const declared = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  const isAllowed = (file: string, target: string): boolean => {
    if (target.startsWith('.'))
      return !relative(join(ROOT, folder), join(ROOT, dirname(file), target)).startsWith('..');
    if (target.startsWith('node:')) return !FOR_BROWSERS.includes(folder);
    return declared.some((name) => target === name || target.startsWith(`${name}/`));
  };
  return globSync(`${folder}/src/**/*.ts`, { cwd: ROOT })
    .filter((file) => !TEST_FILE.test(file))
    .flatMap((file) =>
      Array.from(readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT), ([, target = '']) => target)
        .filter((target) => !isAllowed(file, target))
        .map((target) => `${file} → ${target}`),
    );
}

describe('packages', () => {
  test('exist', () => {
    expect(packages).toEqual(expect.arrayContaining(['packages/embedded-postgres', ...FOR_BROWSERS]));
  });
  test('the SDK depends on what it loads when it is needed, and on private packages that it contains', () => {
    const { dependencies }: Manifest = JSON.parse(
      readFileSync(join(ROOT, 'packages/client/package.json'), 'utf8'),
    );
    const names = Object.keys(dependencies ?? {});
    expect(names.filter((name) => !name.startsWith('@mediary/'))).toEqual([
      'mediabunny',
      'thumbhash',
      'tus-js-client',
    ]);
    expect(names.filter((name) => name.startsWith('@mediary/'))).toEqual([
      '@mediary/contract',
      '@mediary/media-rules',
    ]);
  });
  test.each(packages)('%s imports its own files and declared dependencies only', (folder) => {
    expect(findForeignImports(folder)).toEqual([]);
  });
  test.each([...packages, 'service'])('%s mentions every dependency that it declares', (folder) => {
    const { dependencies, optionalDependencies }: Manifest = JSON.parse(
      readFileSync(join(ROOT, folder, 'package.json'), 'utf8'),
    );
    const text = globSync(`${folder}/{src,*}/**/*.{ts,js}`, { cwd: ROOT })
      .filter((file) => !file.includes('node_modules'))
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('\n');
    // The name of a package for one platform is built from that of the platform.
    const stems = Object.keys({ ...dependencies, ...optionalDependencies }).map((name) =>
      name.replace(/(?:linux|darwin|windows)-\w+$/, ''),
    );
    expect(stems.filter((stem) => !text.includes(stem))).toEqual([]);
  });
});
