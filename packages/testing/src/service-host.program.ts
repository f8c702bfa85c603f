// The process of one service, whose clock a test can move.
import module from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningService } from '@mediary/service/service';
import { serveCalls } from './child-program.ts';

type Start = { readonly settings: Readonly<Record<string, string>> };

/** Jobs that run by the clock, in the order in which a moved clock needs them. */
const CLOCK_JOBS = [
  'maintain-partitions',
  'expire-uploads',
  'expire-assets',
  'empty-trash',
  'remove-deferred',
  'delete-expired-keys',
  'delete-old-samples',
  'reconcile',
  'remove-orphaned-videos',
  'count-owners',
] as const;
const POLL_MS = 20;
/** No asset has it: listeners wake and find nothing new. */
const NO_ASSET = '00000000-0000-7000-8000-000000000000';
const STOP_TIMEOUT_MS = 3000;

let aheadMs = 0;
/** All of this process tells the moved time: ids and signatures too, as on a machine whose clock was set. */
globalThis.Date = new Proxy(Date, {
  construct: (date, values, target) =>
    Reflect.construct(date, values.length === 0 ? [date.now() + aheadMs] : values, target),
  get: (date, name) => (name === 'now' ? () => date.now() + aheadMs : Reflect.get(date, name)),
});

/** Where `npm start` keeps the compiled service too. */
module.enableCompileCache(join(import.meta.dirname, '../../../node_modules/.cache/compiled'));
const { readConfig } = await import('@mediary/service/config');
const { startService } = await import('@mediary/service/service');
const { sql } = await import('@mediary/service/platform/postgres/sql');

let starting: Promise<RunningService> | undefined;

const functions = {
  start: async ({ settings }: Start): Promise<{ address: string }> => {
    const config = readConfig(settings, (path) => resolve(path));
    // PATH is where ffmpeg is looked for. No other setting comes from the environment of the tests.
    const options = { searchPath: process.env['PATH'] };
    starting = startService(config, options);
    return { address: (await starting).address };
  },
  /** Moves the clocks of the process and of its database, and runs what has become due. */
  advance: async ({ ms }: { readonly ms: number }): Promise<void> => {
    if (!starting) throw new Error('the service has not started');
    const { db, jobs } = (await starting).adapters;
    aheadMs += ms;
    const moved = `${ms} milliseconds`;
    await db.transaction(async (tx) => {
      await tx.all(sql('move the clock')`
        update testing_clock set ahead = ${aheadMs}::float8 * interval '1 ms'`);
      // Running jobs have not missed their heartbeats.
      await tx.all(sql('move running jobs')`
        update pgboss.job set heartbeat_on = heartbeat_on + ${moved}::interval,
                              started_on = started_on + ${moved}::interval
         where state = 'active'`);
      for (const job of CLOCK_JOBS) await jobs.send(tx, job, {});
      await tx.all(sql('wake the sender of webhooks', { is_woken: 'bool' })`
        select pg_notify('mediary_events', ${NO_ASSET}) is not null as is_woken`);
    });
    await jobs.maintain();
    for (const job of CLOCK_JOBS) while (await jobs.hasOpenJob(job, {})) await delay(POLL_MS);
  },
};
export type ServiceHostFunctions = typeof functions;

serveCalls(functions, async () => {
  const service = await starting?.catch(() => undefined);
  await Promise.race([service?.abort(), delay(STOP_TIMEOUT_MS)]).catch(() => {});
});
