// What a running server guarantees: UTF-8, durable writes, private access, one service per folder.
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  AS_ROOT,
  folders,
  newFolder,
  NOBODY,
  notes,
  ON_LINUX,
  postmasterOf,
  query,
  start,
  startElsewhere,
} from './launcher.fixture.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './launcher.ts';

describe('a running server', () => {
  const folder = newFolder();
  let server: EmbeddedPostgres;

  beforeAll(async () => {
    mkdirSync(join(folder, 'postgres.init-killed/base'), { recursive: true });
    writeFileSync(join(folder, 'postgres.init-killed/PG_VERSION'), '18\n');
    vi.stubEnv('LANG', undefined).stubEnv('LC_ALL', undefined);
    server = await startEmbeddedPostgres(folder, { settings: { work_mem: '5MB' } });
    vi.unstubAllEnvs();
  });
  afterAll(() => server.stop());

  test('uses UTF-8 without LANG, page checksums, fsync and the given settings', async () => {
    const [row] = await query(
      server,
      `select datname as name, pg_encoding_to_char(encoding) as encoding,
              datlocprovider as provider, datlocale as locale, lower('ÄÖÜ') as lower,
              current_setting('data_checksums') as checksums, current_setting('fsync') as fsync,
              current_setting('work_mem') as memory
         from pg_database
        where datname = current_database()`,
    );
    expect(row).toEqual({
      name: 'mediary',
      encoding: 'UTF8',
      provider: 'b',
      locale: 'C.UTF-8',
      lower: 'äöü',
      checksums: 'on',
      fsync: 'on',
      memory: '5MB',
    });
  });

  test('listens on no TCP port, only on a socket that its owner alone can open', () => {
    const [, , , port, socketFolder, tcpAddress] = readFileSync(
      join(server.dataFolder, 'postmaster.pid'),
      'utf8',
    ).split('\n');
    expect({ port, socketFolder, tcpAddress }).toEqual({
      port: `${server.connection.port}`,
      socketFolder: server.connection.host,
      tcpAddress: '',
    });
    expect(statSync(server.connection.host).mode & 0o777).toBe(0o700);
    expect(statSync(join(server.connection.host, `.s.PGSQL.${port}`)).mode & 0o777).toBe(0o700);
  });

  test('removes the incomplete cluster of a start that was killed', () => {
    expect(readdirSync(folder).sort()).toEqual(['postgres', 'service.lock', 'service.pid']);
  });

  test.runIf(ON_LINUX)('runs in its own session, so that Ctrl-C does not reach it', () => {
    const pid = postmasterOf(server);
    const [, , , , group, session] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').map(Number);
    expect({ group, session }).toEqual({ group: pid, session: pid });
  });

  test.runIf(ON_LINUX && AS_ROOT)(
    'does not run as root and does not get the environment of the service',
    () => {
      const pid = postmasterOf(server);
      expect(statSync(`/proc/${pid}`).uid).toBe(statSync(server.dataFolder).uid);
      expect(statSync(`/proc/${pid}`).uid).not.toBe(0);
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('VITEST')).toBe(false);
    },
  );

  test('refuses a second service on the same folder, in this process and in another', async () => {
    const refusal = `Another service (process ${process.pid}) is using ${folder}.`;
    await expect(startEmbeddedPostgres(folder)).rejects.toThrow(refusal);
    await expect(startElsewhere(folder)).rejects.toThrow(refusal);
    await expect(query(server, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });
});

describe.runIf(AS_ROOT)('as root', () => {
  test("the cluster is outside a folder that the server's user cannot enter, and found again", async () => {
    const folder = newFolder(0o700);
    const first = await start(folder);
    folders.push(dirname(first.dataFolder));
    expect(first.dataFolder).toMatch(/^\/var\/lib\/mediary\/.+\/postgres$/);
    await query(first, 'create table note (text text)');
    await first.stop();
    expect(lstatSync(join(folder, 'postgres')).isSymbolicLink()).toBe(true);
    expect(await notes(await start(folder))).toEqual([]);
  });

  const isOpenToOthers = (folder: string): boolean =>
    (statSync(folder).mode & 0o001) !== 0 && (folder === '/' || isOpenToOthers(dirname(folder)));

  // The other user runs this code.
  const canShareCode = isOpenToOthers(import.meta.dirname);
  test.skipIf(!canShareCode)(
    "an ordinary user's folder can be opened, and the cluster keeps its owner",
    async () => {
      const theirs = await startElsewhere(newFolder(0o777), NOBODY);
      await query(theirs, 'create table note (text text)');
      await theirs.killService();
      const ours = await start(dirname(theirs.dataFolder));
      expect(await notes(ours)).toEqual([]);
      expect(statSync(ours.dataFolder).uid).toBe(NOBODY.uid);
    },
  );
});
