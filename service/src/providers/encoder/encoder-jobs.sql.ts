// SQL queries for the jobs at the operator's own encoder.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

const JOB = {
  attempt: 'int4',
  requests: 'int4',
  accepted_at: 'timestamptz',
  deadline: 'timestamptz',
  job_url: 'text?',
  reported_at: 'timestamptz?',
} as const;

/** With the time of the latest onprem webhook since the encoder accepted the job. */
export const findJob = (db: Queries, assetId: string) =>
  db.one(sql('find encoder job', JOB)`
    select attempt, requests, accepted_at, deadline, job_url,
           (select max(received_at) from deliveries
             where deliveries.asset_id = job.asset_id and provider = 'onprem'
               and received_at > job.accepted_at) as reported_at
      from encoder_jobs as job where asset_id = ${assetId}`);

type AcceptedJob = {
  readonly assetId: string;
  readonly attempt: number;
  readonly requests: number;
  readonly acceptedAt: Date;
  readonly deadline: Date;
  readonly jobUrl: string | null;
};

/** Does not replace the job of a later attempt, nor a known URL by none. */
export const recordJob = (
  db: Queries,
  { assetId, attempt, requests, acceptedAt, deadline, jobUrl }: AcceptedJob,
) =>
  db.all(sql('record encoder job')`
    insert into encoder_jobs as job (asset_id, attempt, requests, accepted_at, deadline, job_url)
    values (${assetId}, ${attempt}, ${requests}, ${acceptedAt}, ${deadline}, ${jobUrl})
    on conflict (asset_id) do update
       set attempt = excluded.attempt, requests = excluded.requests, accepted_at = excluded.accepted_at,
           deadline = excluded.deadline,
           job_url = case when job.attempt = excluded.attempt
                          then coalesce(excluded.job_url, job.job_url) else excluded.job_url end
     where job.attempt <= excluded.attempt`);

export const deleteJob = (db: Queries, assetId: string, attempt: number) =>
  db.all(sql('delete encoder job')`
    delete from encoder_jobs where asset_id = ${assetId} and attempt = ${attempt}`);
