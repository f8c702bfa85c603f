// Deletes completed jobs after hours. Failed jobs stay for days, so that operators see them.
import { repeatUntilStopped } from '../concurrency/repeat-until.ts';

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }> };

export type JobRetention = { readonly completedSeconds: number; readonly failedSeconds: number };

const BATCH = 5000;
const DELETE_COMPLETED = `
with finished as (
  select name, id from pgboss.job_common
   where state = 'completed' and completed_on < now() - make_interval(secs => $1)
   order by completed_on limit ${BATCH} for update skip locked),
deleted as (
  delete from pgboss.job_common using finished
   where job_common.name = finished.name and job_common.id = finished.id returning 1)
select count(*)::int as deleted from deleted`;
const INTERVAL_MS = 60_000;

export async function deleteCompletedJobs(db: Sql, { completedSeconds }: JobRetention): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    const { rows } = await db.executeSql(DELETE_COMPLETED, [completedSeconds]);
    deleted = (rows as { deleted: number }[])[0]?.deleted ?? 0;
  }
}

type Options = {
  readonly retention: JobRetention;
  readonly stopping: AbortSignal;
  readonly onError: (error: Error) => void;
};

/** Runs until `stopping`. */
export const watchCompletedJobs = (db: Sql, { retention, ...options }: Options): Promise<void> =>
  repeatUntilStopped({ ...options, everyMs: INTERVAL_MS }, () => deleteCompletedJobs(db, retention));
