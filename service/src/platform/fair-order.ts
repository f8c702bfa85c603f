// Start-time fair queuing by job priority: the backlog of one owner does not delay the first job of another.
import type { Transaction } from './postgres/database.ts';

export type OwnedJob = { readonly queue: string; readonly owner: string };
export type FairOrder = {
  /** Returns the priority of the owner's next job. Locks the owner's queue until the transaction ends. */
  nextPriority(tx: Transaction, job: OwnedJob): Promise<number>;
};

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };

/** The lock is needed because concurrent `create index if not exists` statements of two processes fail. */
const CREATE_INDEX = `
begin;
select pg_advisory_xact_lock(hashtextextended('fair order', 0));
create index if not exists job_fair_order on pgboss.job_common (name, group_id, priority)
 where state <= 'active' and group_id is not null;
commit`;

/** Without the lock, two transactions of one owner would read the same lowest priority. */
const LOCK_OWNER = `select pg_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0))`;

/**
 * One below the owner's last open job, but at most the virtual time. The virtual time is the priority of the job that started last,
 * at most one above the first waiting job, so that a retried job with an old priority does not set it back.
 */
const NEXT_PRIORITY = `
with last as (
  select min(priority) as priority from pgboss.job where name = $1 and group_id = $2 and state <= 'active'),
started as (
  select min(priority) as priority from pgboss.job
   where name = $1 and state = 'active' and group_id is not null and retry_count = 0),
first as (
  select priority from pgboss.job where name = $1 and state < 'active' and not blocked
   order by priority desc, created_on limit 1)
select least(
         (select priority - 1 from last),
         case when started.priority is null then coalesce((select priority from first), 0)
              else least(started.priority, (select priority + 1 from first)) end) as priority
  from started`;

export async function openFairOrder(db: Sql): Promise<FairOrder> {
  await db.executeSql(CREATE_INDEX);
  return {
    nextPriority: async (tx, { queue, owner }) => {
      await tx.executeSql(LOCK_OWNER, [queue, owner]);
      const { rows } = await tx.executeSql(NEXT_PRIORITY, [queue, owner]);
      return (rows[0] as { priority: number }).priority;
    },
  };
}
