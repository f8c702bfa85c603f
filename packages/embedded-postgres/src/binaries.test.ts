// Runs binaries that npm left incomplete or unreadable, with a fake package of two small files.
import {
  chmodSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findInstalledPackage, prepareBinaries } from './binaries.ts';
import { resolveOwner } from './owner.ts';

const AS_ROOT = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'mediary-test-'));
const copyRoot = join(folder, 'copyRoot');
const source = join(folder, 'project/package');
const privateCopies = join(copyRoot, `mediary-${process.getuid?.()}`);
const owner = await resolveOwner(join(folder, 'no cluster yet'));
const run = () => prepareBinaries(owner, source, copyRoot);

/** The state after an install without scripts: the program fails while the link to its library is missing. */
beforeEach(() => {
  chmodSync(folder, 0o755);
  for (const old of [copyRoot, dirname(source)]) rmSync(old, { recursive: true, force: true });
  for (const made of [copyRoot, join(source, 'native/bin'), join(source, 'native/lib')])
    mkdirSync(made, { recursive: true });
  writeFileSync(join(source, 'package.json'), '{"version":"1.2.3"}');
  writeFileSync(
    join(source, 'native/pg-symlinks.json'),
    '[{"source":"native/lib/library.so.1.2","target":"native/lib/library.so"}]',
  );
  writeFileSync(join(source, 'native/lib/library.so.1.2'), 'library');
  writeFileSync(join(source, 'native/bin/postgres'), '#!/bin/sh\ncat "$(dirname "$0")/../lib/library.so"\n', {
    mode: 0o755,
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the installed binaries', () => {
  test('are in the package for this platform', () => {
    expect(statSync(join(findInstalledPackage(), 'native/bin/initdb')).isFile()).toBe(true);
  });

  test('are used in place, and get the links that an install script would have created', async () => {
    const { postgres } = await run();
    expect(postgres).toBe(join(source, 'native/bin/postgres'));
    expect(lstatSync(join(source, 'native/lib/library.so')).isSymbolicLink()).toBe(true);
    expect(readdirSync(copyRoot)).toEqual([]);
  });

  test('that cannot run are reported with advice', async () => {
    writeFileSync(join(source, 'native/bin/postgres'), '#!/bin/sh\necho no such loader >&2; exit 1\n');
    await expect(run()).rejects.toThrow(/cannot run here: .*no such loader.*Set DATABASE_URL/);
  });
});

describe.runIf(AS_ROOT)('binaries that the owner cannot reach', () => {
  beforeEach(() => chmodSync(dirname(source), 0o700));
  const copy = join(privateCopies, '1.2.3');

  test('are copied once', async () => {
    expect((await run()).postgres).toBe(join(copy, 'native/bin/postgres'));
    const made = statSync(copy).ino;
    await run();
    expect(statSync(copy).ino).toBe(made);
  });

  test('are copied once by two services that start at the same time', async () => {
    const [one, other] = await Promise.all([run(), run()]);
    expect(one).toEqual(other);
    expect(readdirSync(privateCopies)).toEqual(['1.2.3']);
  });

  test('are copied again when the copy lost a file; an abandoned partial copy is removed', async () => {
    await run();
    rmSync(join(copy, 'native/lib/library.so.1.2'));
    mkdirSync(`${copy}.partial-999999999-x1y2z3/native`, { recursive: true });
    await run();
    expect(existsSync(join(copy, 'native/lib/library.so.1.2'))).toBe(true);
    expect(readdirSync(privateCopies)).toEqual(['1.2.3']);
  });

  test('are readable in the copy, even if they were installed with a strict umask', async () => {
    for (const path of globSync('**', { cwd: source })) chmodSync(join(source, path), 0o700);
    expect((await run()).postgres).toBe(join(copy, 'native/bin/postgres'));
  });

  test('are never used from a folder that others can write to', async () => {
    mkdirSync(privateCopies);
    chmodSync(privateCopies, 0o777);
    await expect(run()).rejects.toThrow('remove it');
  });
});
