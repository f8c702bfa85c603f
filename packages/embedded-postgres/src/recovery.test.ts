// Tests that an archived log brings a copied server to any moment after the copy, and says when it cannot.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deleteArchivedBefore, listArchived, writeArchived } from './archived-log.ts';
import { copyCluster, firstLogOf, restoreCluster } from './base-backup.ts';
import type { EmbeddedPostgres } from './launcher.ts';
import { newFolder, query, start } from './launcher.fixture.ts';
import { archiveLog, dropLog, keepLog } from './log-archive.ts';

const archiveTo = (server: EmbeddedPostgres, log: string) =>
  archiveLog(server, (file) => writeArchived(log, file));

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
  expect(await restoreCluster(copy, toMoment, { log, to: second })).toBeInstanceOf(Date);
  await restoreCluster(copy, toEnd, { log, to: undefined });
  await expect(restoreCluster(copy, tooFar, { log, to: new Date(Date.now() + 60_000) })).rejects.toThrow(
    /The archived log ends before .*: its last change is of \d{4}-/,
  );
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
  await restoreCluster(copy, again, { log, to: undefined });
  expect(await notesOf(await start(again))).toEqual([1, 2, 5]);

  const [, later = ''] = await listArchived(log);
  expect(await deleteArchivedBefore(log, later)).toBe(1);
  expect(await listArchived(log)).toContain(later);
  expect(firstLogOf(files)).toMatch(/^[0-9A-F]{24}$/);
});

test('an idle server adds nothing, a failed file comes again, and another server is refused', async () => {
  const [server, other, log] = [await start(newFolder()), await start(newFolder()), newFolder()];
  await expect(archiveTo(server, log)).rejects.toThrow('does not keep its log');
  await keepLog(server);
  await query(server, 'create table note (number int)');
  await expect(archiveLog(server, () => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
  expect(await listArchived(log)).toEqual([]);
  expect(await archiveTo(server, log)).toBeGreaterThan(0);
  await expect.poll(() => archiveTo(server, log), { timeout: 60_000 }).toBe(0);

  await keepLog(other);
  await query(other, 'create table other (number int)');
  await expect(archiveTo(other, log)).rejects.toThrow('is the log of another server');
  rmSync(join(log, (await listArchived(log))[0] as string));
  await dropLog(other);
  await expect(archiveTo(other, log)).rejects.toThrow('does not keep its log');
});
