// Wakes the workers of a process for jobs that have become due, with one statement for all queues.
import { setInterval } from 'node:timers/promises';

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }> };
type DueQueue = { readonly name: string };

/**
 * pg-boss delays a retry by up to `retryDelayMax`, also after a missed heartbeat, which took long enough: the
 * job of a killed process starts at once. The conditions on `start_after` select jobs by an index.
 */
const FIND_DUE = `
with resumed as (
  update pgboss.job set start_after = now()
   where name = any($1) and state = 'retry' and not blocked and start_after > now()
     and output = '{"value": {"message": "job heartbeat timeout"}}'
  returning name
)
select name from resumed
 union
select queue as name from unnest($1::text[]) as queue
 where exists (select from pgboss.job
                where name = queue and state < 'active' and start_after <= now() and not blocked)`;
const INTERVAL_MS = 2000;

type Options = {
  readonly queues: readonly string[];
  readonly stopping: AbortSignal;
  readonly onDue: (queue: string) => void;
  readonly onError: (error: Error) => void;
};

/** Runs until `stopping`. Finds what NOTIFY does not announce: retries, delayed jobs, jobs of a reconnect. */
export async function watchDueJobs(db: Sql, { queues, stopping, onDue, onError }: Options): Promise<void> {
  const wake = async () => {
    const { rows } = await db.executeSql(FIND_DUE, [queues]);
    for (const { name } of rows as DueQueue[]) onDue(name);
  };
  try {
    for await (const _ of setInterval(INTERVAL_MS, undefined, { signal: stopping, ref: false }))
      await wake().catch(onError);
  } catch (error) {
    if (!stopping.aborted) throw error; // The signal ends the interval.
  }
}
