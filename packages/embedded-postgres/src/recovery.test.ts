// Tests that an archived log brings a copied server to any moment after the copy, and says when it cannot.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { copyCluster, firstLogOf, restoreCluster } from './base-backup.ts';
import type { EmbeddedPostgres } from './launcher.ts';
import { filesOf, newFolder, query, start } from './launcher.fixture.ts';
import { archiveLog, dropLog, keepLog } from './log-archive.ts';

const archiveTo = (server: EmbeddedPostgres, log: string) =>
  archiveLog(server, async ({ name, path }) =>
    writeFileSync(join(log, `${name}.gz`), gzipSync(readFileSync(path))),
  );

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
  const files = await copyCluster(server, copy);
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
  await restoreCluster(filesOf(copy), toEnd, { fillLog: filesOf(log), to: undefined });
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
  await restoreCluster(filesOf(copy), again, { fillLog: filesOf(log), to: undefined });
  expect(await notesOf(await start(again))).toEqual([1, 2, 5]);

  expect(firstLogOf(files)).toMatch(/^[0-9A-F]{24}$/);
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
