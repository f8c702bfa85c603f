// Finds jobs that have become due and runs that were lost, with one statement for all queues.
import { repeatUntilStopped } from '../concurrency/repeat-until.ts';

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }> };
type Finding = { readonly name: string; readonly kind: 'due' | 'lost' | 'open' };

/**
 * pg-boss delays a retry by up to `retryDelayMax`, also after a missed heartbeat, which took long enough: the
 * job of a killed process starts at once. The conditions on `start_after` and on `state` select jobs by an
 * index. `lost`: a run missed its heartbeat; looked for if $2. `open`: a job runs, or is due soon.
 */
const FIND_DUE = `
with resumed as (
  update pgboss.job set start_after = now()
   where name = any($1) and state = 'retry' and not blocked and start_after > now()
     and output = '{"value": {"message": "job heartbeat timeout"}}'
  returning name
),
queue as (select unnest($1::text[]) as name)
select name, 'due' as kind from resumed
 union
select name, 'due' from queue
 where exists (select from pgboss.job
                where job.name = queue.name and state < 'active' and start_after <= now() and not blocked)
 union
select name, 'open' from queue
 where exists (select from pgboss.job where job.name = queue.name and state = 'active')
    or exists (select from pgboss.job
                where job.name = queue.name and state < 'active' and not blocked
                  and start_after between now() and now() + interval '10 seconds')
 union
select name, 'lost' from queue
 where $2::boolean
   and exists (select from pgboss.job
                where job.name = queue.name and state = 'active'
                  and heartbeat_on + heartbeat_seconds * interval '1 second' < now())`;
const INTERVAL_MS = 2000;
/** Of a process without work, and of the search for lost runs. */
const TURNS_BETWEEN = 3;

type Options = {
  readonly queues: readonly string[];
  readonly stopping: AbortSignal;
  readonly onDue: (queue: string) => void;
  /** Ends the lost runs of a queue, so that they can be retried. */
  readonly endLostRuns: (queue: string) => Promise<void>;
  /** Whether a job has run in this process since the last call: its retry may be due soon. */
  readonly hasRun: () => boolean;
  readonly onError: (error: Error) => void;
};

/** Runs until `stopping`. Finds what NOTIFY does not announce: retries, delayed jobs, jobs of a reconnect. */
export async function watchDueJobs(db: Sql, { stopping, onError, ...options }: Options): Promise<void> {
  let turn = 0;
  let isBusy = true;
  await repeatUntilStopped({ everyMs: INTERVAL_MS, stopping, onError }, async () => {
    turn += 1;
    const searchesLost = turn % TURNS_BETWEEN === 0;
    const isWanted = options.hasRun() || isBusy || searchesLost;
    if (!isWanted) return;
    // After a failed search, too.
    isBusy = true;
    isBusy = await wake(db, options, searchesLost);
  });
}

type Search = Pick<Options, 'queues' | 'onDue' | 'endLostRuns'>;

/** Returns whether a job runs or is due. */
async function wake(db: Sql, search: Search, searchesLost: boolean): Promise<boolean> {
  const { rows } = await db.executeSql(FIND_DUE, [search.queues, searchesLost]);
  const findings = rows as Finding[];
  const listOf = (wanted: Finding['kind']) =>
    findings.filter(({ kind }) => kind === wanted).map(({ name }) => name);
  for (const name of listOf('due')) search.onDue(name);
  const lost = listOf('lost');
  for (const name of lost) await search.endLostRuns(name);
  if (lost.length > 0) await wake(db, search, false);
  return findings.length > 0;
}
