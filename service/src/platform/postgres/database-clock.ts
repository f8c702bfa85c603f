// The clock of the database, which decides what is old enough to be removed: every process shares it.
import type { Queries } from './database.ts';
import { sql } from './sql.ts';

/** Reads the time of the database. A process that is frozen afterwards acts on an earlier time. */
type DatabaseNow = () => Promise<Date>;

export type Clocks = {
  /** The clock of this process. */
  readonly now: () => Date;
  /** Decides what jobs remove. */
  readonly databaseNow: DatabaseNow;
};

async function readDatabaseTime(db: Queries): Promise<Date> {
  const row = await db.one(sql('database time', { now: 'timestamptz' })`select clock_timestamp() as now`);
  if (!row) throw new Error('the database does not tell the time');
  return row.now;
}

/** A clock that starts at the database's time, and runs as this machine counts. */
export async function openDatabaseClock(databaseNow: DatabaseNow): Promise<() => Date> {
  const start = performance.now();
  const time = (await databaseNow()).getTime();
  return () => new Date(time + Math.max(0, performance.now() - start));
}

/** How many milliseconds the clock of this process is ahead of the database's. */
export async function measureClockSkew({ now, databaseNow }: Clocks): Promise<number> {
  const before = now().getTime();
  const time = (await databaseNow()).getTime();
  return Math.round((before + now().getTime()) / 2 - time);
}

const MAX_SKEW_MS = 60_000;

export const isClockTrusted = (skewMs: number): boolean => Math.abs(skewMs) <= MAX_SKEW_MS;

/** A job that removes something calls it first: the job fails, and another process retries it. */
export async function assertTrustedClock(clocks: Clocks): Promise<void> {
  const skewMs = await measureClockSkew(clocks);
  if (isClockTrusted(skewMs)) return;
  throw new Error(
    `the clock of this process is ${describeClockSkew(skewMs)} the database's: it removes nothing`,
  );
}

export const describeClockSkew = (skewMs: number): string =>
  `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;

/** Clocks of tests. */
export type ClockOverrides = {
  /** Moves the time of the process, and that of the database for its jobs. */
  readonly now?: () => Date;
  /** Moves the clock of the process away from the database's. */
  readonly processNow?: () => Date;
};

export const openClocks = (db: Queries, { now, processNow }: ClockOverrides): Clocks => ({
  now: processNow ?? now ?? (() => new Date()),
  databaseNow: now ? async () => now() : () => readDatabaseTime(db),
});
