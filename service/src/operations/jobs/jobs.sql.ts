// SQL queries for the workers that run jobs.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

/** By the latest sign of life of each process. */
export const findJobWorkers = (db: Queries, jobIds: readonly string[]) =>
  db.all(sql('workers of jobs', { job_id: 'uuid', id: 'uuid', host: 'text' })`
    select running.id as job_id, workers.id, workers.host
      from workers cross join jsonb_to_recordset(workers.running_jobs) as running (id uuid)
     where running.id = any(${jobIds}::uuid[]) and seen_at > now() - interval '35 seconds'`);
