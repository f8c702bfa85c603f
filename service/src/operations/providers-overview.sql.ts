// When each provider was heard of last.
import type { ProviderName } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

export const lastWebhooks = (db: Queries, providers: readonly ProviderName[]) =>
  db.all(sql('last webhooks', { provider: 'text', received_at: 'timestamptz?', reason: 'text?' })`
    select asked.provider, latest.received_at, latest.reason
      from unnest(${providers}::text[]) as asked (provider)
      left join lateral (select received_at, reason from deliveries where deliveries.provider = asked.provider order by id desc limit 1) as latest on true`);
