// Two checkouts of the repository, each with its own database, and how they take turns.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { urlOf } from '../test/support/postgres/postgres.ts';
import { openUploads, SECRETS, tokenOf } from './environment.ts';
import { measurePair, median } from './pair.ts';
import { type Server, startProgram } from './processes.ts';
import { type Row, round } from './rows.ts';
import { freePort } from '../test/support/http/free-port.ts';

const ASSETS = 2000;

/** One checkout with its service, database and assets. */
export type Checkout = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly server: Server;
  readonly ids: readonly string[];
  /** Names of stored segments by their size in kilobytes. */
  readonly segments: Map<number, readonly string[]>;
  start(role: 'api' | 'all'): Promise<Server>;
  close(): Promise<void>;
};

export const token = tokenOf('bench');

export async function openCheckout(root: string): Promise<Checkout> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-bench-'));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres(folder);
  const databaseUrl = urlOf(postgres);
  const start = async (role: 'api' | 'all') => {
    const port = await freePort();
    const environment = {
      ...SECRETS,
      DATABASE_URL: databaseUrl,
      DATA_DIR: folder,
      MEDIARY_ROLE: role,
      PORT: String(port),
      LOG_LEVEL: 'warn',
    };
    const args = [join(root, 'service/start.js')];
    return startProgram({ command: process.execPath, args, environment }, port, '/readyz');
  };
  const server = await start('api');
  const ids = (await openUploads(server, token, { count: ASSETS })).map(({ id }) => id);
  return {
    folder,
    databaseUrl,
    server,
    ids,
    segments: new Map(),
    start,
    close: async () => {
      await server.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type Requests = (
  checkout: Checkout,
) => Promise<(n: number) => Buffer | undefined> | ((n: number) => Buffer | undefined);

type LoadCase = { readonly what: string; readonly connections: number; readonly requests: Requests };

/** Both services under the same load, alternately. */
async function compareLoad([here, base]: Checkouts, { what, connections, requests }: LoadCase): Promise<Row> {
  const side = async (checkout: Checkout) => ({ server: checkout.server, next: await requests(checkout) });
  const result = await measurePair({
    rounds: 7,
    seconds: 2,
    connections,
    ours: await side(here),
    reference: await side(base),
  });
  const rates = `${Math.round(result.ours.perSecond)}/s to ${Math.round(result.reference.perSecond)}/s`;
  const detail = `${rates}, ratio per processor second ${round(result.perCpuSecond)}`;
  return [what, 'the other checkout', round(result.throughput), '≥ 0.9', detail];
}

type Checkouts = readonly [here: Checkout, base: Checkout];

type TimedCase = {
  readonly what: string;
  readonly rounds: number;
  readonly work: (checkout: Checkout) => Promise<number>;
};

/** Seconds of some work on each checkout, alternately; a ratio above 1 means that this checkout is faster. */
async function compareTimes([here, base]: Checkouts, { what, rounds, work }: TimedCase): Promise<Row> {
  const times: { here: number; base: number }[] = [];
  for (let n = 0; n <= rounds; n++) times.push({ base: await work(base), here: await work(here) });
  const counted = times.slice(1);
  const middle = (side: 'here' | 'base') => round(median(counted.map((time) => time[side])));
  const ratio = median(counted.map((time) => time.base / time.here));
  return [what, 'the other checkout', round(ratio), '≥ 0.9', `${middle('here')} s to ${middle('base')} s`];
}

export type Case = LoadCase | TimedCase;

export const compare = (both: Checkouts, one: Case): Promise<Row> =>
  'work' in one ? compareTimes(both, one) : compareLoad(both, one);
