// SQL queries for webhook endpoints.
import type { Queries, Transaction } from '../../platform/postgres/database.ts';
import { columns, composeClauses, clause, sql } from '../../platform/postgres/sql.ts';
import { webhookEndpointRow } from '../../tables-rows.ts';
import type { EndpointEdit, WebhookEndpoint } from './webhook-endpoint.ts';

const ENDPOINT = columns(webhookEndpointRow);

type Rows = Promise<readonly WebhookEndpoint[]>;
type Row = Promise<WebhookEndpoint | undefined>;

type NewEndpoint = Pick<
  WebhookEndpoint,
  'id' | 'url' | 'events' | 'description' | 'status' | 'secret' | 'created_at'
>;

/** Creations wait for each other until the end of the transaction, so that each counts the earlier ones. */
export const lockEndpointCount = (tx: Transaction) =>
  tx.all(sql('lock endpoint count')`
    select from pg_advisory_xact_lock(hashtextextended('webhook endpoint count', 0))`);

/** Undefined if there are `maxCount` endpoints. The caller holds the lock of their count. */
export const insertEndpoint = (tx: Transaction, endpoint: NewEndpoint, maxCount: number): Row =>
  tx.one(sql('insert endpoint', webhookEndpointRow)`
    insert into webhook_endpoints (id, url, events, description, status, secret, created_at, updated_at,
                                   active_after)
    select ${endpoint.id}, ${endpoint.url}, ${endpoint.events}::text[], ${endpoint.description},
           ${endpoint.status}, ${endpoint.secret}::bytea, ${endpoint.created_at}::timestamptz,
           ${endpoint.created_at}::timestamptz, event_transaction(pg_current_xact_id())
     where (select count(*) from webhook_endpoints) < ${maxCount}
    returning ${ENDPOINT}`) as Row;

export const findEndpoint = (db: Queries, id: string): Row =>
  db.one(
    sql('find endpoint', webhookEndpointRow)`select ${ENDPOINT} from webhook_endpoints where id = ${id}`,
  ) as Row;

/** Newest first. */
export const listEndpoints = (db: Queries, belowId: string | undefined, limit: number): Rows =>
  db.all(
    composeClauses('endpoints', webhookEndpointRow, [
      clause('')`select ${ENDPOINT} from webhook_endpoints`,
      ...(belowId === undefined ? [] : [clause('below')`where id < ${belowId}`]),
      clause('')`order by id desc limit ${limit}`,
    ]),
  ) as Rows;

/** Locks the endpoint against changes, attempts and new deliveries until the end of the transaction. */
export const lockEndpoint = (tx: Transaction, id: string): Row =>
  tx.one(sql('lock endpoint', webhookEndpointRow)`
    select ${ENDPOINT} from webhook_endpoints where id = ${id} for no key update`) as Row;

export const updateEndpointRow = (tx: Transaction, id: string, edit: EndpointEdit): Row =>
  tx.one(sql('update endpoint', webhookEndpointRow)`
    update webhook_endpoints
       set url = ${edit.url}, events = ${edit.events}::text[], description = ${edit.description},
           status = ${edit.status}, paused_reason = ${edit.paused_reason}, paused_at = ${edit.paused_at},
           failing_since = ${edit.failing_since}, updated_at = now(),
           active_after = case when ${edit.isActivated}::bool then event_transaction(pg_current_xact_id())
                          else active_after end
     where id = ${id}
    returning ${ENDPOINT}`) as Row;

export const deleteEndpointRow = (db: Queries, id: string) =>
  db.one(sql('delete endpoint', { id: 'uuid' })`delete from webhook_endpoints where id = ${id} returning id`);

/** The current secret becomes the previous one for `overlapMs`. */
export const replaceSecret = (
  db: Queries,
  id: string,
  { secret, overlapMs }: { secret: Buffer; overlapMs: number },
): Row =>
  db.one(sql('replace secret', webhookEndpointRow)`
    update webhook_endpoints
       set previous_secret = secret, previous_secret_until = now() + ${overlapMs}::float8 * interval '1 ms',
           secret = ${secret}::bytea, updated_at = now()
     where id = ${id}
    returning ${ENDPOINT}`) as Row;

/** Stores the same secrets under another key, unless they were rotated meanwhile. */
export const restoreSecrets = (
  db: Queries,
  { id, secret: seen }: Pick<WebhookEndpoint, 'id' | 'secret'>,
  { secret, previous }: { secret: Buffer; previous: Buffer | null },
) =>
  db.one(sql('restore secrets')`
    update webhook_endpoints set secret = ${secret}::bytea, previous_secret = ${previous}::bytea
     where id = ${id} and secret = ${seen}::bytea`);
