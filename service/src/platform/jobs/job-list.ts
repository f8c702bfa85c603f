// Lists and finds the jobs of all queues for operators: each page is a walk along an index.
import type { JobSqlDatabase } from '../postgres/job-database.ts';

/** The states of a list, in its order. `delayed`: until a time, or for a retry. */
export const LISTED_STATES = ['active', 'waiting', 'delayed', 'failed'] as const;
export type ListedState = (typeof LISTED_STATES)[number];

export type JobRecord = {
  readonly id: string;
  readonly queue: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly state: ListedState | 'completed' | 'cancelled';
  readonly createdAt: Date;
  /** Of the latest run; null before the first one. */
  readonly startedAt: Date | null;
  readonly startAfter: Date;
  readonly completedAt: Date | null;
  /** With the current one. */
  readonly runs: number;
  readonly maxRuns: number;
  /** Of the latest failed run, as the queue stored it. */
  readonly output: unknown;
};

/** Where a page ended: the order of its state begins with `priority` or `createdOn`. */
export type JobPosition = {
  readonly state: ListedState;
  readonly queue: string;
  readonly priority: number;
  /** As PostgreSQL renders it, with microseconds. */
  readonly createdOn: string;
  readonly id: string;
};

export type JobFilter = {
  readonly queues: readonly string[];
  readonly states: readonly ListedState[];
  readonly searchedValue?: string | undefined;
  readonly after?: JobPosition | undefined;
  readonly limit: number;
};

type JobRow = {
  readonly id: string;
  readonly name: string;
  readonly data: Record<string, unknown> | null;
  readonly state: JobRecord['state'];
  readonly priority: number;
  readonly created_on: Date;
  readonly created_text: string;
  readonly started_on: Date | null;
  readonly start_after: Date;
  readonly completed_on: Date | null;
  readonly retry_count: number;
  readonly retry_limit: number;
  readonly output: unknown;
};

const COLUMNS = `job.id, job.name, job.data, job.priority, job.created_on,
  job.created_on::text as created_text, job.started_on, job.start_after, job.completed_on,
  job.retry_count, job.retry_limit, job.output,
  case when job.state < 'active' and job.start_after <= now() then 'waiting'
       when job.state < 'active' then 'delayed' else job.state::text end as state`;

/** Walks `job_active_or_failed`, or pg-boss's index of the next jobs, from the position on. */
const BY_PRIORITY = {
  after: `priority <= coalesce(start.priority, 2147483647)
    and (start.id is null or priority < start.priority or (created_on, id) > (start.created_on, start.id))`,
  order: 'priority desc, created_on, id',
};
const ORDERS: Readonly<Record<ListedState, { where: string; after: string; order: string }>> = {
  active: {
    where: "state = 'active'",
    after: `created_on >= coalesce(start.created_on, '-infinity')
      and (start.id is null or (created_on, id) > (start.created_on, start.id))`,
    order: 'created_on, id',
  },
  waiting: { where: "state < 'active' and not blocked and start_after <= now()", ...BY_PRIORITY },
  delayed: { where: "state < 'active' and not blocked and start_after > now()", ...BY_PRIORITY },
  failed: {
    where: "state = 'failed'",
    after: `created_on <= coalesce(start.created_on, 'infinity')
      and (start.id is null or (created_on, id) < (start.created_on, start.id))`,
    order: 'created_on desc, id desc',
  },
};

/** Few jobs share a value: they are found by their index, whatever the state. */
const SEARCHED = (member: string) => `searched as materialized (
  select * from pgboss.job
   where name = any($1) and data ->> '${member}' = $6 and (state <= 'active' or state = 'failed')), `;

/** `start` is the position, for the first queue only: the list continues with the next queues. */
function listSql(state: ListedState, member: string | undefined): string {
  const { where, after, order } = ORDERS[state];
  const source = member === undefined ? 'pgboss.job' : 'searched';
  return `with ${member === undefined ? '' : SEARCHED(member)}
queues as (select queue, place from unnest($1::text[]) with ordinality as listed (queue, place))
select ${COLUMNS}
  from queues
  left join (select 1 as place, $3::int as priority, $4::timestamptz as created_on, $5::uuid as id) as start
    using (place)
 cross join lateral (
   select * from ${source} as listed where name = queue and ${where} and ${after}
    order by ${order} limit $2) as job
 order by place, ${order
   .split(', ')
   .map((key) => `job.${key}`)
   .join(', ')}
 limit $2`;
}

/** Active jobs, then waiting and delayed ones in the order of their execution, then failed ones. */
export async function listJobs(
  db: JobSqlDatabase,
  searchedMember: string,
  { queues, states, searchedValue, after, limit }: JobFilter,
): Promise<{ jobs: JobRecord[]; next: JobPosition | undefined }> {
  const rows: JobRow[] = [];
  const first = after === undefined ? 0 : states.indexOf(after.state);
  for (const state of states.slice(first)) {
    const start = state === after?.state ? after : undefined;
    const from = start === undefined ? queues : queues.slice(queues.indexOf(start.queue));
    const values = [from, limit + 1 - rows.length, start?.priority, start?.createdOn, start?.id];
    const found = await db.executeSql(
      listSql(state, searchedValue === undefined ? undefined : searchedMember),
      searchedValue === undefined ? values : [...values, searchedValue],
    );
    rows.push(...(found.rows as JobRow[]).map((row) => ({ ...row, state })));
    if (rows.length > limit) break;
  }
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { jobs: page.map(toRecord), next: last && toPosition(last) };
}

const toPosition = ({ state, name, priority, created_text, id }: JobRow): JobPosition => ({
  state: state as ListedState,
  queue: name,
  priority,
  createdOn: created_text,
  id,
});

const FIND = `select ${COLUMNS} from pgboss.job as job where name = any($1) and id = $2`;

/** Also finds jobs that ended in the last days. */
export async function findJob(
  db: JobSqlDatabase,
  queues: readonly string[],
  id: string,
): Promise<JobRecord | undefined> {
  const { rows } = await db.executeSql(FIND, [queues, id]);
  const [row] = rows as JobRow[];
  return row && toRecord(row);
}

/** pg-boss counts a retry when it starts. */
const toRecord = (row: JobRow): JobRecord => ({
  id: row.id,
  queue: row.name,
  payload: row.data ?? {},
  state: row.state,
  createdAt: row.created_on,
  startedAt: row.started_on,
  startAfter: row.start_after,
  completedAt: row.completed_on,
  runs: row.started_on === null ? 0 : row.retry_count + 1,
  maxRuns: row.retry_limit + 1,
  output: row.output,
});
