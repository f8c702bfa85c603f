// PgBouncer of Debian in transaction mode, in front of an embedded server.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import type { EmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { freePort } from '../http/free-port.ts';
import { eventually } from '../service.ts';
import { rowsOf } from './postgres.ts';

const PROGRAM = '/usr/sbin/pgbouncer';
export const missingPgBouncer = (): string | undefined =>
  existsSync(PROGRAM) ? undefined : 'needs the package "pgbouncer"';

/** Few enough that statements of one process take turns on a session. */
const SESSIONS = 3;

export async function startPgBouncer({ connection, dataFolder }: EmbeddedPostgres) {
  const { host, port, user, database } = connection;
  const folder = await mkdtemp(join(tmpdir(), 'mediary-pgbouncer-'));
  await chmod(folder, 0o755);
  const ownPort = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(join(folder, 'users.txt'), `"${user}" ""\n`);
  await writeFile(
    file,
    `[databases]
${database} = host=${host} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = trust
auth_file = ${folder}/users.txt
pool_mode = transaction
default_pool_size = ${SESSIONS}
`,
  );
  // It does not run as root, and the socket of the server is closed to others.
  const { uid, gid } = await stat(dataFolder);
  const child = spawn(PROGRAM, [file], { uid, gid, stdio: 'ignore' });
  const ended = once(child, 'close');
  const url = `postgres://${user}@127.0.0.1:${ownPort}/${database}`;
  await eventually(
    () => rowsOf({ connectionString: url }, 'select 1').catch(() => undefined),
    (rows) => rows !== undefined,
  );
  return {
    url,
    sessions: SESSIONS,
    stop: async () => {
      child.kill('SIGINT');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
