// Tests that an archived log brings a copied server to any moment after the copy, and says when it cannot.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { copyCluster, firstLogOf, restoreCluster } from './base-backup.ts';
import type { EmbeddedPostgres } from './launcher.ts';
import { filesOf, newFolder, query, start } from './launcher.fixture.ts';
import { archiveLog, dropLog, keepLog } from './log-archive.ts';
import type { Recovery } from './recovery.ts';

/** Throws where the log has a file of this name with other bytes. */
const archiveTo = (server: EmbeddedPostgres, log: string) =>
  archiveLog(server, async ({ name, path }) => {
    const [file, bytes] = [join(log, `${name}.gz`), gzipSync(readFileSync(path))];
    if (existsSync(file)) expect(readFileSync(file).equals(bytes), name).toBe(true);
    else writeFileSync(file, bytes);
  });

const connectionsOf = async (server: EmbeddedPostgres) => {
  const [row] = await query(
    server,
    "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend'",
  );
  // Without that of the question itself.
  return (row as { count: number }).count - 1;
};

/** Writes a row in a transaction of its own; returns the next millisecond of the server. */
async function write(server: EmbeddedPostgres, number: number): Promise<Date> {
  await query(server, 'insert into note values ($1)', [number]);
  const [row] = await query(server, 'select clock_timestamp() as now');
  return new Date((row as { now: Date }).now.getTime() + 1);
}

const notesOf = async (server: EmbeddedPostgres) =>
  (await query(server, 'select number from note order by number')).map(
    (row) => (row as { number: number }).number,
  );

test('a server is restored to any moment of its archived log, and goes on on a new timeline', async () => {
  const [server, copy, log] = [await start(newFolder()), newFolder(), newFolder()];
  await query(server, 'create table note (number int)');
  expect([await keepLog(server), await keepLog(server)]).toEqual([true, false]);
  await write(server, 1);
  const { files } = await copyCluster(server, copy);
  const second = await write(server, 2);
  await archiveTo(server, log);
  await write(server, 3);
  const archived = await archiveTo(server, log);
  expect(archived).toBe(1);
  await write(server, 4);
  await server.stop();

  const [toMoment, toEnd, tooFar] = [newFolder(), newFolder(), newFolder()];
  expect(await restoreCluster(filesOf(copy), toMoment, { fillLog: filesOf(log), to: second })).toBeInstanceOf(
    Date,
  );
  await restoreCluster(filesOf(copy), toEnd, { fillLog: filesOf(log), to: 'latest' });
  const inAMinute = new Date(Date.now() + 60_000);
  await expect(
    restoreCluster(filesOf(copy), tooFar, { fillLog: filesOf(log), to: inAMinute }),
  ).rejects.toThrow(/The archived log ends before .*: its last change is of \d{4}-/);
  expect(readdirSync(tooFar).filter((name) => name === 'postgres')).toEqual([]);

  const restored = await start(toMoment);
  expect(await notesOf(restored)).toEqual([1, 2]);
  expect(readdirSync(restored.dataFolder)).not.toContain('restored_log');
  expect(await notesOf(await start(toEnd))).toEqual([1, 2, 3]);

  // The restored server archives into the same folder, and is restored from the copy of before.
  expect(await keepLog(restored)).toBe(true);
  await write(restored, 5);
  await archiveTo(restored, log);
  await restored.stop();
  const again = newFolder();
  await restoreCluster(filesOf(copy), again, { fillLog: filesOf(log), to: 'latest' });
  expect(await notesOf(await start(again))).toEqual([1, 2, 5]);

  expect(firstLogOf(files)).toMatch(/^[0-9A-F]{24}$/);
});

test('a server that is restored as it was copied archives beside the log of before', async () => {
  const [server, copy, log] = [await start(newFolder()), newFolder(), newFolder()];
  await query(server, 'create table note (number int)');
  await keepLog(server);
  await write(server, 1);
  await copyCluster(server, copy);
  const second = await write(server, 2);
  await write(server, 3);
  await archiveTo(server, log);
  await server.stop();
  const restore = async (from: string, to: Recovery['to'], timeline?: number) => {
    const folder = newFolder();
    const recovery = { fillLog: filesOf(log), to, ...(timeline !== undefined && { timeline }) };
    await restoreCluster(filesOf(from), folder, recovery);
    return start(folder);
  };

  const restored = await restore(copy, 'immediate');
  expect(await notesOf(restored)).toEqual([1]);
  await keepLog(restored);
  const newCopy = newFolder();
  await write(restored, 4);
  await copyCluster(restored, newCopy);
  const fifth = await write(restored, 5);
  await write(restored, 6);
  await archiveTo(restored, log);
  await restored.stop();
  const files = readdirSync(log).sort();
  expect(files).toContain('00000002.history.gz');
  expect(files.filter((name) => name.startsWith('00000001'))).not.toEqual([]);

  for (const [from, to, expected, timeline] of [
    [copy, second, [1, 2]],
    [copy, fifth, [1, 4, 5], 2],
    [copy, 'latest', [1, 4, 5, 6], 2],
    [copy, 'latest', [1, 4, 5, 6]],
    [newCopy, 'immediate', [1, 4]],
    [newCopy, fifth, [1, 4, 5]],
    [newCopy, 'latest', [1, 4, 5, 6]],
  ] as const) {
    const again = await restore(from, to, timeline);
    expect(await notesOf(again), `to ${String(to)}`).toEqual(expected);
    expect(await query(again, 'select pg_walfile_name(pg_current_wal_lsn()) as name')).toEqual([
      { name: expect.stringMatching(/^00000003/) },
    ]);
    await again.stop();
  }
});

test('an idle server adds nothing, a failed file comes again, and no connection waits for it', async () => {
  const [server, log] = [await start(newFolder()), newFolder()];
  await expect(archiveTo(server, log)).rejects.toThrow('does not keep its log');
  await keepLog(server);
  await query(server, 'create table note (number int)');
  const connections: number[] = [];
  const failing = async () => {
    connections.push(await connectionsOf(server));
    throw new Error('disk full');
  };
  await expect(archiveLog(server, failing)).rejects.toThrow('disk full');
  expect(connections).toEqual([0]);
  expect(await archiveTo(server, log)).toBeGreaterThan(0);
  await expect.poll(() => archiveTo(server, log), { timeout: 60_000 }).toBe(0);
  expect(readdirSync(log).length).toBeGreaterThan(0);
  await dropLog(server);
  await expect(archiveTo(server, log)).rejects.toThrow('does not keep its log');
});
