// The order of jobs: start-time fair queuing by owner, the list of open jobs in the order of execution, and
// searches among them. Open jobs wait or run; completed ones stay for hours.
import type { Transaction } from '../postgres/database.ts';
import { sql } from '../postgres/sql.ts';

export type OwnedJob = { readonly queue: string; readonly owner: string };

type Sql = { executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> };

/** `member`: a constant name. The lock is needed because concurrent statements of two processes fail. */
const createIndexesSql = (member: string) => `
begin;
select pg_advisory_xact_lock(hashtextextended('fair order', 0));
create index if not exists job_fair_order on pgboss.job_common (name, group_id, priority)
 where state <= 'active' and group_id is not null;
create index if not exists job_by_member on pgboss.job_common (name, (data ->> '${member}'))
 where state <= 'active' or state = 'failed';
create index if not exists job_active_or_failed on pgboss.job_common (name, state, created_on, id)
 where state in ('active', 'failed');
create index if not exists job_completed on pgboss.job_common (completed_on) where state = 'completed';
commit`;

/** `searchedMember`: of payloads, by which `hasOpenJob` finds a job through an index. */
export async function createJobIndexes(db: Sql, searchedMember: string): Promise<void> {
  await db.executeSql(createIndexesSql(searchedMember));
}

/** Without the lock, two transactions of one owner would read the same lowest priority. */
const lockOwner = ({ queue, owner }: OwnedJob) =>
  sql('lock jobs of owner')`
    select from pg_advisory_xact_lock(hashtextextended(${queue} || ' ' || ${owner}, 0))`;

/**
 * One below the owner's last open job, but at most the virtual time. The virtual time is the priority of the
 * job that started last, at most one above the first waiting job, so that a retried job with an old priority
 * does not set it back.
 */
const nextPriority = ({ queue, owner }: OwnedJob) =>
  sql('next priority', { priority: 'int4' })`
    with last as (
      select min(priority) as priority from pgboss.job
       where name = ${queue} and group_id = ${owner} and state <= 'active'),
    started as (
      select min(priority) as priority from pgboss.job
       where name = ${queue} and state = 'active' and group_id is not null and retry_count = 0),
    first as (
      select priority from pgboss.job where name = ${queue} and state < 'active' and not blocked
       order by priority desc, created_on limit 1)
    select least(
             (select priority - 1 from last),
             case when started.priority is null then coalesce((select priority from first), 0)
                  else least(started.priority, (select priority + 1 from first)) end) as priority
      from started`;

/** Returns the priority of the owner's next job. Locks the owner's queue until the transaction ends. */
export async function findNextPriority(tx: Transaction, job: OwnedJob): Promise<number> {
  // They travel together; the second one sees what was committed before the first one got the lock.
  const [, found] = await Promise.all([tx.all(lockOwner(job)), tx.one(nextPriority(job))]);
  return (found as { priority: number }).priority;
}

/** Visits each owner with open jobs once, however many jobs it has. */
const IS_SLOT_WANTED = `
with recursive owners as (
  (select group_id from pgboss.job where name = $1 and state <= 'active' and group_id is not null
    order by group_id limit 1)
  union all
  select (select group_id from pgboss.job
           where name = $1 and state <= 'active' and group_id > owners.group_id order by group_id limit 1)
    from owners where owners.group_id is not null)
select exists (
  select from owners
   where group_id <> $2
     and not exists (select from pgboss.job as running
                      where running.name = $1 and running.group_id = owners.group_id
                        and running.state = 'active')
     and exists (select from pgboss.job as waiting
                  where waiting.name = $1 and waiting.group_id = owners.group_id
                    and waiting.state < 'active' and not waiting.blocked and waiting.start_after <= now())
) as wanted`;

/** True while another owner, none of whose jobs runs, has one that could start. */
export async function isSlotWanted(db: Sql, { queue, owner }: OwnedJob): Promise<boolean> {
  const { rows } = await db.executeSql(IS_SLOT_WANTED, [queue, owner]);
  return (rows as { readonly wanted: boolean }[])[0]?.wanted === true;
}

export type OpenJob<T> = {
  readonly payload: T;
  readonly isRunning: boolean;
  readonly createdAt: Date;
  /** Start of the latest run; null before the first run. */
  readonly startedAt: Date | null;
  /** Earliest start; later than `createdAt` for retries. */
  readonly startAfter: Date;
};

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

type JobSearch = {
  readonly queue: string;
  readonly payload: object;
  /** Has an index. */
  readonly searchedMember: string;
};

/** True when a job whose payload contains these members waits or runs. */
export async function hasOpenJob(db: Sql, { queue, payload, searchedMember }: JobSearch): Promise<boolean> {
  const { [searchedMember]: searched } = payload as Readonly<Record<string, unknown>>;
  const values = [queue, JSON.stringify(payload), ...(searched === undefined ? [] : [String(searched)])];
  const { rows } = await db.executeSql(
    `select from pgboss.job where name = $1 and state <= 'active' and data @> $2::jsonb
     ${searched === undefined ? '' : `and data ->> '${searchedMember}' = $3`} limit 1`,
    values,
  );
  return rows.length > 0;
}
