// SQL queries for the diagnostics. None of them reads a large table without a limit.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

export const readServerFacts = (db: Queries) =>
  db.one(
    sql('server facts', {
      version: 'int4',
      time: 'timestamptz',
      max: 'int4',
      reserved: 'int4',
      used: 'int4',
      has_statements: 'bool',
    })`
    select current_setting('server_version_num')::int as version,
           clock_timestamp() as time,
           current_setting('max_connections')::int as max,
           current_setting('superuser_reserved_connections')::int
             + coalesce(current_setting('reserved_connections', true), '0')::int as reserved,
           (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
           to_regclass('pg_stat_statements') is not null as has_statements`,
  );

export const listAppliedMigrations = (db: Queries) =>
  db.all(sql('applied migrations', { number: 'int4' })`select number from migrations order by number`);

/** Longest first. Sessions of other users are visible to members of pg_read_all_stats only. */
export const listLongTransactions = (db: Queries) =>
  db.all(
    sql('long transactions', { pid: 'int4', state: 'text?', seconds: 'int4' })`
    select pid, state, extract(epoch from now() - xact_start)::int as seconds
      from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend'
       and xact_start < now() - interval '1 minute'
     order by xact_start limit 5`,
  );

/** The text of statements is not shown. */
export const listSlowStatements = (db: Queries) =>
  db.all(
    sql('slow statements', { query_id: 'text', calls: 'int8', mean_ms: 'int4' })`
    select queryid::text as query_id, calls, mean_exec_time::int as mean_ms
      from pg_stat_statements
     where dbid = (select oid from pg_database where datname = current_database())
       and queryid is not null and mean_exec_time > 100 and calls >= 5
     order by total_exec_time desc limit 5`,
  );

export const listMissingPartitions = (db: Queries) =>
  db.all(
    sql('missing partitions', { name: 'text', is_current: 'bool' })`
    select wanted.name, ahead = 0 as is_current
      from unnest(array['events', 'deliveries']) as parent, generate_series(0, 1) as ahead,
           lateral (select date_trunc('month', now() at time zone 'utc')
                           + make_interval(months => ahead) as start) as month,
           lateral (select parent || to_char(month.start, '_YYYY_MM') as name) as wanted
     where to_regclass(wanted.name) is null
     order by 1`,
  );

export const listDeadRows = (db: Queries) =>
  db.all(
    sql('dead rows', { table: 'text', live: 'int8', dead: 'int8' })`
    select relname::text as table, n_live_tup as live, n_dead_tup as dead
      from pg_stat_user_tables
     where schemaname in ('public', 'pgboss') and n_dead_tup > 100000 and n_dead_tup > n_live_tup
     order by n_dead_tup desc limit 5`,
  );

/** Counts at most 10 000 jobs of each state. */
export const listQueues = (db: Queries) =>
  db.all(
    sql('queue backlog', {
      name: 'text',
      waiting: 'int4',
      running: 'int4',
      failed: 'int4',
      oldest_s: 'int4?',
    })`
    with jobs as (
      (select name, 'waiting' as state, start_after from pgboss.job
        where state < 'active' and not blocked limit 10000)
      union all
      (select name, 'running', null from pgboss.job where state = 'active' limit 10000)
      union all
      (select name, 'failed', null from pgboss.job
        where state = 'failed' and completed_on > now() - interval '1 day' limit 10000))
    select name,
           count(*) filter (where state = 'waiting')::int as waiting,
           count(*) filter (where state = 'running')::int as running,
           count(*) filter (where state = 'failed')::int as failed,
           extract(epoch from now() - min(start_after) filter (where start_after <= now()))::int as oldest_s
      from jobs group by name order by name`,
  );

/**
 * At most `limit` enabled and `limit` paused endpoints, failing ones first. `total`: how many have the same
 * status.
 */
export const listWebhookEndpoints = (db: Queries, limit: number) =>
  db.all(
    sql('webhook endpoints', {
      id: 'uuid',
      url: 'text',
      status: 'text',
      paused_reason: 'text?',
      total: 'int4',
    })`
    select id, url, status, paused_reason, total
      from (select id, url, status, paused_reason,
                   count(*) over (partition by status)::int as total,
                   row_number() over (partition by status order by failing_since nulls last, id) as place
              from webhook_endpoints where status <> 'disabled') as endpoint
     where place <= ${limit}
     order by status, place`,
  );
