// Lists the running and waiting jobs of a queue in the order of their execution.

export type OpenJob<T> = {
  readonly payload: T;
  readonly isRunning: boolean;
  readonly createdAt: Date;
  /** Start of the latest run; null before the first run. */
  readonly startedAt: Date | null;
  /** Earliest start; later than `createdAt` for retries. */
  readonly startAfter: Date;
};

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };

const MAX_JOBS = 10_000;
const LIST = `
(select data, true as running, created_on, started_on, start_after from pgboss.job
  where name = $1 and state = 'active' order by started_on limit ${MAX_JOBS})
union all
(select data, false, created_on, started_on, start_after from pgboss.job
  where name = $1 and state < 'active' and not blocked order by priority desc, created_on limit ${MAX_JOBS})`;

export async function listOpenJobs<T>(db: Sql, queue: string): Promise<OpenJob<T>[]> {
  const { rows } = await db.executeSql(LIST, [queue]);
  return (rows as Row<T>[]).map(({ data, running, created_on, started_on, start_after }) => ({
    payload: data,
    isRunning: running,
    createdAt: created_on,
    startedAt: started_on,
    startAfter: start_after,
  }));
}

type Row<T> = {
  readonly data: T;
  readonly running: boolean;
  readonly created_on: Date;
  readonly started_on: Date | null;
  readonly start_after: Date;
};
