// The embedded PostgreSQL as a supervised process: it is started again when it ends.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { createBackoff, type Report, type Supervised } from './supervised-process.ts';

export type SupervisedPostgres = Supervised & { readonly url: string };

export async function supervisePostgres(folder: string, report: Report): Promise<SupervisedPostgres> {
  let starts = 0;
  let isStopped = false;
  const nextDelay = createBackoff();
  const start = (): Promise<EmbeddedPostgres> => {
    const startedAt = performance.now();
    starts += 1;
    return startEmbeddedPostgres(folder, {
      onExit: () => {
        postgres = startAgain(nextDelay(performance.now() - startedAt));
      },
    });
  };
  const startAgain = async (waitMs: number): Promise<EmbeddedPostgres> => {
    report(`postgres ended; it starts again in ${waitMs / 1000} s`);
    await delay(waitMs);
    if (isStopped) throw new Error('postgres is stopped');
    return start().catch((error: Error) => {
      report(error.message);
      return startAgain(nextDelay(0));
    });
  };
  let postgres = start();
  const { connection, dataFolder } = await postgres;
  return {
    name: 'postgres',
    url: urlOf(connection),
    pid: () => Number.parseInt(readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8'), 10),
    starts: () => starts,
    restart: async () => {
      await (await postgres).stop();
      postgres = start();
      await postgres;
    },
    stop: async () => {
      isStopped = true;
      await postgres.then((server) => server.stop());
    },
  };
}

const urlOf = ({ host, port, user, database }: EmbeddedPostgres['connection']): string =>
  `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
