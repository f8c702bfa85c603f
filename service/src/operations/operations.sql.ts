// SQL queries for the readiness check and the overview of providers.
import type { ProviderName } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/**
 * `queue`: whether the tables of the job queue exist. `waits`: whether an encode lately found too little disk
 * space.
 */
export const probeDatabase = (db: Queries) =>
  db.one(sql('probe', { queue: 'bool', waits: 'bool' })`
    select to_regclass('pgboss.job') is not null as queue,
           exists (select 1 from encode_waits where checked_at > now() - interval '90 seconds') as waits`);

/** The latest delivery of each provider. */
export const findLastWebhooks = (db: Queries, providers: readonly ProviderName[]) =>
  db.all(sql('last webhooks', { provider: 'text', received_at: 'timestamptz?', reason: 'text?' })`
    select requested.provider, latest.received_at, latest.reason
      from unnest(${providers}::text[]) as requested (provider)
      left join lateral (select received_at, reason
                           from deliveries
                          where deliveries.provider = requested.provider
                          order by id desc
                          limit 1) as latest on true`);
