// Starts the jobs of killed processes again at once: the delay between retries is meant for errors.
import { setInterval } from 'node:timers/promises';

type Sql = { executeSql(text: string, values?: unknown[]): Promise<unknown> };

/**
 * pg-boss delays a retry by up to `retryDelayMax`, also after a missed heartbeat, which took long enough. The
 * condition on `start_after` selects delayed jobs by an index.
 */
const START_NOW = `
update pgboss.job set start_after = now()
 where name = any($1) and state = 'retry' and not blocked and start_after > now()
   and output = '{"value": {"message": "job heartbeat timeout"}}'`;
const INTERVAL_MS = 2000;

type Options = {
  readonly queues: readonly string[];
  readonly stopping: AbortSignal;
  readonly onError: (error: Error) => void;
};

/** Runs until `stopping`. */
export async function startKilledJobs(db: Sql, { queues, stopping, onError }: Options): Promise<void> {
  try {
    for await (const _ of setInterval(INTERVAL_MS, undefined, { signal: stopping, ref: false }))
      await db.executeSql(START_NOW, [queues]).catch(onError);
  } catch (error) {
    if (!stopping.aborted) throw error; // The signal ends the interval.
  }
}
