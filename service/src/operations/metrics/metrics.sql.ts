// SQL queries for the gauges. No request waits for them: their results are shared for 30 s.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

/**
 * Living assets without a row in `unfinished_assets`, which is small, are ready. An index-only scan counts
 * all living ones by provider: equal providers share an entry. Before the first vacuum it reads the table
 * too.
 */
export const countAssets = (db: Queries) =>
  db.all(
    sql('assets by state', { stream_status: 'text', provider: 'text?', count: 'int8' })`
    select stream_status, provider, sum(count)::int8 as count
      from (select 'ready' as stream_status, provider, count(*) as count
              from assets where deleted_at is null group by provider
            union all
            select state, provider, sum(more)
              from unfinished_assets
                   cross join lateral (values (stream_status, 1), ('ready', -1)) as moved (state, more)
             group by state, provider) as counted
     group by stream_status, provider having sum(count) > 0`,
  );

/** Reads at most 10 000 assets in processing, the oldest ones, along `unfinished_by_status`. */
export const findOldestProcessing = (db: Queries) =>
  db.all(
    sql('oldest processing', { provider: 'text?', seconds: 'int4' })`
    select provider, extract(epoch from now() - min(since))::int4 as seconds
      from (select waiting.provider, coalesce(uploaded_at, created_at) as since
              from unfinished_assets as waiting join assets on id = asset_id
             where waiting.stream_status = 'processing'
             order by asset_id limit 10000) as oldest
     group by provider`,
  );

/** Few rows: an owner or operator creates each endpoint. */
export const countEndpoints = (db: Queries) =>
  db.all(sql('endpoints by status', { status: 'text', count: 'int8' })`
    select status, count(*) as count from webhook_endpoints group by status`);

/**
 * Counts open and failed jobs along indexes that have no others. The search for the oldest job reads the
 * next 10 000 jobs of each queue, along the index that also finds the next job.
 */
export const listQueueStates = (db: Queries) =>
  db.all(
    sql('queue states', {
      name: 'text',
      ready: 'int4',
      deferred: 'int4',
      active: 'int4',
      failed: 'int4',
      counted_at: 'timestamptz',
      seconds: 'int4?',
    })`
    with counts as (
      select name, count(*) filter (where state < 'active' and start_after <= now())::int4 as ready,
             count(*) filter (where state < 'active' and start_after > now())::int4 as deferred,
             count(*) filter (where state = 'active')::int4 as active
        from pgboss.job_common where state <= 'active' group by name),
    failures as (
      select name, count(*)::int4 as failed from pgboss.job_common where state = 'failed' group by name)
    select queue.name, coalesce(ready, 0) as ready, coalesce(deferred, 0) as deferred,
           coalesce(active, 0) as active,
           coalesce(failed, 0) as failed, now() as counted_at,
           extract(epoch from now() - oldest.start_after)::int4 as seconds
      from pgboss.queue
      left join counts on counts.name = queue.name
      left join failures on failures.name = queue.name
      left join lateral (
        select min(start_after) as start_after
          from (select start_after from pgboss.job
                 where job.name = queue.name and state < 'active' and not blocked and start_after <= now()
                 order by priority desc, created_on limit 10000) as next) as oldest on true
     where queue.name not like '\\_\\_%'
     order by queue.name`,
  );
