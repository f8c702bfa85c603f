// Tests that a copy of a busy server has everything that was committed before its end, and nothing half done.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { copyCluster, restoreCluster } from './base-backup.ts';
import { filesOf, newFolder, query, start } from './launcher.fixture.ts';

/** Writes rows in pairs until it is stopped; returns how many pairs were committed. */
function keepWriting(server: Parameters<typeof query>[0]) {
  const state = { isStopped: false, pairs: 0 };
  const writing = (async () => {
    while (!state.isStopped) {
      await query(server, 'insert into pair select $1, part from generate_series(1, 2) as part', [
        state.pairs,
      ]);
      state.pairs += 1;
    }
  })();
  return {
    pairs: () => state.pairs,
    stop: async () => {
      state.isStopped = true;
      await writing;
    },
  };
}

test('a copy that was taken under load starts elsewhere, with every row of before', async () => {
  const server = await start(newFolder());
  await query(server, 'create table pair (number int, part int)');
  await query(
    server,
    "create table filler as select repeat('x', 1000) as text from generate_series(1, 20000)",
  );
  const writer = keepWriting(server);
  const [before, copy] = [writer.pairs(), newFolder()];
  const { files } = await copyCluster(server, copy);
  await writer.stop();
  for (const { path, sizeBytes, sha256 } of files) {
    const bytes = readFileSync(join(copy, path));
    expect([path, bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([
      path,
      sizeBytes,
      sha256,
    ]);
  }
  const elsewhere = newFolder();
  await restoreCluster(filesOf(copy), elsewhere);
  const restored = await start(elsewhere);
  const [counted] = await query(
    restored,
    'select count(*)::int as rows, count(distinct number)::int as pairs, max(number) as last from pair',
  );
  const { rows, pairs, last } = counted as { rows: number; pairs: number; last: number };
  expect(rows).toBe(2 * pairs);
  expect(pairs).toBe(last + 1);
  expect(pairs).toBeGreaterThanOrEqual(before);
  expect(await query(restored, 'select count(*)::int as count from filler')).toEqual([{ count: 20_000 }]);
  // Nothing of the backup stays at the server.
  expect(await query(server, 'select count(*)::int as count from pg_replication_slots')).toEqual([
    { count: 0 },
  ]);
});

test('a folder with a database, and one with a running service, are left alone', async () => {
  const folder = newFolder();
  const server = await start(folder);
  const copy = newFolder();
  await copyCluster(server, copy);
  await expect(restoreCluster(filesOf(copy), folder)).rejects.toThrow('Another service');
  await server.stop();
  await expect(restoreCluster(filesOf(copy), folder)).rejects.toThrow('has a database');
});

test('a file that is already in the target is not overwritten', async () => {
  const server = await start(newFolder());
  const copy = newFolder();
  writeFileSync(join(copy, 'PG_VERSION'), 'other');
  await expect(copyCluster(server, copy)).rejects.toThrow('EEXIST');
  rmSync(join(copy, 'PG_VERSION'));
  expect(statSync(copy).isDirectory()).toBe(true);
});
