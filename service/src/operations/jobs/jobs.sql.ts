// SQL queries for the workers that run jobs, and for what they have done.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

/** Reads at most the latest 200 000 completed jobs, along an index of them. */
export const countJobsDone = (db: Queries) =>
  db.all(sql('jobs done', { name: 'text', count: 'int8' })`
    select name, count(*) as count
      from (select name from pgboss.job_common
             where state = 'completed' and completed_on > now() - interval '1 hour'
             order by completed_on desc limit 200000) as latest
     group by name`);

/** By the latest sign of life of each process. */
export const findJobWorkers = (db: Queries, jobIds: readonly string[]) =>
  db.all(sql('workers of jobs', { job_id: 'uuid', id: 'uuid', host: 'text' })`
    select running.id as job_id, workers.id, workers.host
      from workers cross join jsonb_to_recordset(workers.running_jobs) as running (id uuid)
     where running.id = any(${jobIds}::uuid[]) and seen_at > now() - interval '35 seconds'`);
