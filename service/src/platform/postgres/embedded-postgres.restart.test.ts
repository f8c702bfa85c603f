// Kills the embedded server and its service in every way, and looks whether what was committed is still there.
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
} from './embedded-postgres.fixture.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { ownerOf } from './postgres-owner.ts';

/** The dead that wait for their parent have no command line. */
const lives = (pid: number) =>
  existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';

describe.runIf(ON_LINUX)('from one start to the next', () => {
  const folder = newFolder();
  beforeAll(async () => {
    const server = await startEmbeddedPostgres(folder);
    await query(server, 'create table note (text text)');
    await server.stop();
  });

  test('stop leaves the data and no process', async () => {
    const first = await start(folder);
    await note(first, 'before stop');
    const helpers = await query(first, 'select pid from pg_stat_activity where pid <> pg_backend_pid()');
    const all = [postmasterOf(first), ...helpers.map(({ pid }) => Number(pid))];
    expect(all.length).toBeGreaterThan(3);
    expect(all.every(lives)).toBe(true);

    await first.stop();
    expect(all.filter(lives)).toEqual([]);
    expect(await notes(await start(folder))).toContain('before stop');
  });

  test('the server of a killed service is ended, its data kept', async () => {
    const orphan = await startElsewhere(folder);
    await note(orphan, 'before the service died');
    const pid = postmasterOf(orphan);
    await orphan.killService();
    expect(lives(pid)).toBe(true);

    const next = await start(folder);
    expect(await notes(next)).toContain('before the service died');
    expect(postmasterOf(next)).not.toBe(pid);
    await vi.waitFor(() => expect(lives(pid)).toBe(false)); // its last step follows the removal of its lock file
  });

  test('service and server killed together leave nothing in the way, even if a helper of the server takes its time to die', async () => {
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

  test('a lock file whose number now belongs to another program is no obstacle, and that program lives on', async () => {
    const first = await start(folder);
    const lockFiles = ['postmaster.pid', `.s.PGSQL.${first.connection.port}.lock`].map((name) =>
      join(first.dataFolder, name),
    );
    const left = lockFiles.map((file) => readFileSync(file, 'utf8'));
    await first.stop();

    const stranger = spawn('sleep', ['60'], await ownerOf(first.dataFolder));
    onTestFinished(() => void stranger.kill());
    lockFiles.forEach((file, index) => {
      writeFileSync(file, left[index]?.replace(/^\d+/, `${stranger.pid}`) ?? '');
    });
    await start(folder);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  test('a server that dies by itself is reported, and can be started again', async () => {
    const died = Promise.withResolvers<Error>();
    const first = await start(folder, { onExit: died.resolve });
    process.kill(postmasterOf(first), 'SIGKILL');
    expect((await died.promise).message).toContain('PostgreSQL ended (SIGKILL)');
    expect(await query(await start(folder), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a server that cannot start says why, and does not keep the folder', async () => {
    const version = join(folder, 'postgres/PG_VERSION');
    writeFileSync(version, '9\n');
    await expect(start(folder)).rejects.toThrow('database files are incompatible with server');
    writeFileSync(version, '18\n');
    await expect(start(folder)).resolves.toMatchObject({ dataFolder: dirname(version) });
  });
});
