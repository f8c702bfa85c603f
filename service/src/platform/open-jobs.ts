// Lists the jobs of a queue that run or wait, in the order in which workers take them.

export type OpenJob<T> = {
  readonly payload: T;
  readonly isRunning: boolean;
  readonly createdAt: Date;
  /** Of the latest run; null before the first. */
  readonly startedAt: Date | null;
  /** A retry waits until then. */
  readonly startAfter: Date;
};

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };

const MOST = 10_000;
const LIST = `
(select data, true as running, created_on, started_on, start_after from pgboss.job
  where name = $1 and state = 'active' order by started_on limit ${MOST})
union all
(select data, false, created_on, started_on, start_after from pgboss.job
  where name = $1 and state < 'active' and not blocked order by priority desc, created_on limit ${MOST})`;

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
