// A primary and a synchronous standby that streams from it, made of the embedded server's programs.
import { appendFile, chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyCluster, restoreCluster } from '@mediary/embedded-postgres/base-backup';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { eventually } from '../service.ts';
import { newDatabaseDir } from '../service/data-folders.ts';
import { rowsOf } from './postgres.ts';

type ReplicatedPostgres = {
  readonly primary: EmbeddedPostgres;
  readonly standby: EmbeddedPostgres;
  /** As DATABASE_URL; the standby comes first, so that a client has to pass it over. */
  readonly url: string;
  /** Kills the primary without a word to its clients. */
  killPrimary(): Promise<void>;
  promote(): Promise<void>;
  stop(): Promise<void>;
};

const NAME = 'standby';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-standby-'));
  await chmod(folder, 0o755);
  return folder;
}

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const folders = [await newDatabaseDir(), await newFolder(), await newFolder()] as const;
  const { promise: ended, resolve } = Promise.withResolvers<Error>();
  const primary = await startEmbeddedPostgres(folders[0], { onExit: resolve });
  const { host, port, user, database } = primary.connection;
  await copyCluster(primary, folders[1]);
  await writeFile(join(folders[1], 'standby.signal'), '');
  const source = `host=${host} port=${port} user=${user} application_name=${NAME}`;
  await appendFile(join(folders[1], 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  await restoreCluster((cluster) => cp(folders[1], cluster, { recursive: true }), folders[2]);
  const standby = await startEmbeddedPostgres(folders[2]);
  await rowsOf(primary.connection, `alter system set synchronous_standby_names = '${NAME}'`);
  await rowsOf(primary.connection, 'select pg_reload_conf()');
  await eventually(
    () => rowsOf(primary.connection, 'select sync_state from pg_stat_replication'),
    ([row]) => row?.['sync_state'] === 'sync',
  );
  const hosts = [standby, primary].map(({ connection }) => encodeURIComponent(connection.host)).join(',');
  return {
    primary,
    standby,
    url: `postgres://${user}@/${database}?host=${hosts}&port=${port}`,
    killPrimary: async () => {
      const file = join(primary.dataFolder, 'postmaster.pid');
      process.kill(Number.parseInt(await readFile(file, 'utf8'), 10), 'SIGKILL');
      await ended;
    },
    promote: async () => {
      await rowsOf(standby.connection, 'select pg_promote()');
    },
    stop: async () => {
      await primary.stop();
      await standby.stop();
      await Promise.all(folders.map((each) => rm(each, { recursive: true, force: true, maxRetries: 5 })));
    },
  };
}
