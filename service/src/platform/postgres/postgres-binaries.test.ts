// Holds the launcher to running PostgreSQL's binaries where npm left them incomplete or out of reach, with a package of two tiny files.
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
import { installedPackage, runnableBinaries } from './postgres-binaries.ts';
import { ownerOf } from './postgres-owner.ts';

const AS_ROOT = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'mediary-test-'));
const shelf = join(folder, 'shelf');
const source = join(folder, 'project/package');
const ownShelf = join(shelf, `mediary-${process.getuid?.()}`);
const owner = await ownerOf(join(folder, 'no cluster yet'));
const run = () => runnableBinaries(owner, source, shelf);

/** As npm leaves it when install scripts are off: its program fails while the link to its library is missing. */
beforeEach(() => {
  chmodSync(folder, 0o755);
  for (const old of [shelf, dirname(source)]) rmSync(old, { recursive: true, force: true });
  for (const made of [shelf, join(source, 'native/bin'), join(source, 'native/lib')])
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
  test('lie in the package for this platform', () => {
    expect(statSync(join(installedPackage(), 'native/bin/initdb')).isFile()).toBe(true);
  });

  test('are used where they lie, and get the links that an install script would have made', async () => {
    const { postgres } = await run();
    expect(postgres).toBe(join(source, 'native/bin/postgres'));
    expect(lstatSync(join(source, 'native/lib/library.so')).isSymbolicLink()).toBe(true);
    expect(readdirSync(shelf)).toEqual([]);
  });

  test('that run nowhere are refused with advice', async () => {
    writeFileSync(join(source, 'native/bin/postgres'), '#!/bin/sh\necho no such loader >&2; exit 1\n');
    await expect(run()).rejects.toThrow(/cannot run here: .*no such loader.*Set DATABASE_URL/);
  });
});

describe.runIf(AS_ROOT)('binaries that their user cannot reach', () => {
  beforeEach(() => chmodSync(dirname(source), 0o700));
  const copy = join(ownShelf, '1.2.3');

  test('are copied once', async () => {
    expect((await run()).postgres).toBe(join(copy, 'native/bin/postgres'));
    const made = statSync(copy).ino;
    await run();
    expect(statSync(copy).ino).toBe(made);
  });

  test('are copied once by two services that start together', async () => {
    const [one, other] = await Promise.all([run(), run()]);
    expect(one).toEqual(other);
    expect(readdirSync(ownShelf)).toEqual(['1.2.3']);
  });

  test('are copied again when the copy has lost a file, and a dead half copy is swept', async () => {
    await run();
    rmSync(join(copy, 'native/lib/library.so.1.2'));
    mkdirSync(`${copy}.half-999999999-x1y2z3/native`, { recursive: true });
    await run();
    expect(existsSync(join(copy, 'native/lib/library.so.1.2'))).toBe(true);
    expect(readdirSync(ownShelf)).toEqual(['1.2.3']);
  });

  test('are open to that user in the copy, even if they were installed under a strict umask', async () => {
    for (const path of globSync('**', { cwd: source })) chmodSync(join(source, path), 0o700);
    expect((await run()).postgres).toBe(join(copy, 'native/bin/postgres'));
  });

  test('are never taken from a folder that others can write to', async () => {
    mkdirSync(ownShelf);
    chmodSync(ownShelf, 0o777);
    await expect(run()).rejects.toThrow('remove it');
  });
});
