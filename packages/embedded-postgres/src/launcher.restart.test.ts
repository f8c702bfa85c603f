// Kills the server and its service in every way and checks that committed data survives.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  newFolder,
  note,
  notes,
  ON_LINUX,
  postmasterOf,
  query,
  start,
  startElsewhere,
} from './launcher.fixture.ts';
import { startEmbeddedPostgres } from './launcher.ts';
import { resolveOwner } from './owner.ts';

/** A zombie process has an empty command line. */
const isRunning = (pid: number) =>
  existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';

describe.runIf(ON_LINUX)('a restart', () => {
  const folder = newFolder();
  beforeAll(async () => {
    const server = await startEmbeddedPostgres(folder);
    await query(server, 'create table note (text text)');
    await server.stop();
  });

  test('after stop() keeps the data; no process is left', async () => {
    const first = await start(folder);
    await note(first, 'before stop');
    const helpers = await query(first, 'select pid from pg_stat_activity where pid <> pg_backend_pid()');
    const all = [postmasterOf(first), ...helpers.map(({ pid }) => Number(pid))];
    expect(all.length).toBeGreaterThan(3);
    expect(all.every(isRunning)).toBe(true);

    await first.stop();
    expect(all.filter(isRunning)).toEqual([]);
    expect(await notes(await start(folder))).toContain('before stop');
  });

  test('after SIGKILL of the service stops the orphaned server and keeps its data', async () => {
    const orphan = await startElsewhere(folder);
    await note(orphan, 'before the service died');
    const pid = postmasterOf(orphan);
    await orphan.killService();
    expect(isRunning(pid)).toBe(true);

    const next = await start(folder);
    expect(await notes(next)).toContain('before the service died');
    expect(postmasterOf(next)).not.toBe(pid);
    // The process ends shortly after it removes its lock file.
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
  });

  test('after SIGKILL of service and server succeeds, even while a helper process is ending', async () => {
    const killed = await startElsewhere(folder);
    await note(killed, 'before both died');
    const [row] = await query(killed, `select pid from pg_stat_activity where backend_type = 'checkpointer'`);
    const helper = Number(row?.['pid']);
    process.kill(helper, 'SIGSTOP');
    process.kill(postmasterOf(killed), 'SIGKILL');
    await killed.killService();
    setTimeout(() => process.kill(helper, 'SIGCONT'), 500);
    expect(await notes(await start(folder))).toContain('before both died');
  });

  test('ignores a lock file whose process id now belongs to another program', async () => {
    const first = await start(folder);
    const lockFiles = ['postmaster.pid', `.s.PGSQL.${first.connection.port}.lock`].map((name) =>
      join(first.dataFolder, name),
    );
    const left = lockFiles.map((file) => readFileSync(file, 'utf8'));
    await first.stop();

    const stranger = spawn('sleep', ['60'], await resolveOwner(first.dataFolder));
    onTestFinished(() => void stranger.kill());
    lockFiles.forEach((file, index) => {
      writeFileSync(file, left[index]?.replace(/^\d+/, `${stranger.pid}`) ?? '');
    });
    await start(folder);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  test('after a crash of the server succeeds; onExit reports the crash', async () => {
    const died = Promise.withResolvers<Error>();
    const first = await start(folder, { onExit: died.resolve });
    process.kill(postmasterOf(first), 'SIGKILL');
    expect((await died.promise).message).toContain('PostgreSQL ended (SIGKILL)');
    expect(await query(await start(folder), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('that fails reports why and releases the folder lock', async () => {
    const version = join(folder, 'postgres/PG_VERSION');
    writeFileSync(version, '9\n');
    await expect(start(folder)).rejects.toThrow('database files are incompatible with server');
    writeFileSync(version, '18\n');
    await expect(start(folder)).resolves.toMatchObject({ dataFolder: dirname(version) });
  });
});
