// SQL queries for named service keys.
import type { Queries } from '../../platform/postgres/database.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { columns, sql } from '../../platform/postgres/sql.ts';
import { TABLES } from '../../tables.ts';

const SHAPE = TABLES.service_keys;
const COLUMNS = columns(SHAPE);

export type ServiceKeyRow = Readonly<RowOf<typeof SHAPE>>;
export type ServiceKeyMembers = Pick<ServiceKeyRow, 'name' | 'scopes' | 'owner_prefixes' | 'expires_at'>;
type NewRow = ServiceKeyMembers & Pick<ServiceKeyRow, 'id' | 'key_hash' | 'key_hint' | 'created_at'>;

/** Without those that are revoked. Newest first. */
export const listUsableKeys = (db: Queries, limit: number): Promise<ServiceKeyRow[]> =>
  db.all(sql('usable service keys', SHAPE)`
    select ${COLUMNS} from service_keys where revoked_at is null order by id desc limit ${limit}`);

export type ServiceKeyFilter = {
  readonly limit: number;
  readonly includeRevoked: boolean;
  /** The last key of the previous page. */
  readonly afterId?: string | undefined;
};

/** Newest first. */
export const listKeyRows = (
  db: Queries,
  { limit, includeRevoked, afterId }: ServiceKeyFilter,
): Promise<ServiceKeyRow[]> =>
  db.all(sql('list service keys', SHAPE)`
    select ${COLUMNS} from service_keys
     where (${includeRevoked}::bool or revoked_at is null)
       and (${afterId ?? null}::uuid is null or id < ${afterId ?? null}::uuid)
     order by id desc
     limit ${limit}`);

export const findKey = (db: Queries, id: string): Promise<ServiceKeyRow | undefined> =>
  db.one(sql('find service key', SHAPE)`select ${COLUMNS} from service_keys where id = ${id}`);

/** Locks the key until the end of the transaction. */
export const lockKey = (tx: Queries, id: string): Promise<ServiceKeyRow | undefined> =>
  tx.one(sql('lock service key', SHAPE)`
    select ${COLUMNS} from service_keys where id = ${id} for no key update`);

/** Undefined when `limit` keys exist that are not revoked. */
export const insertKey = (db: Queries, row: NewRow, limit: number): Promise<ServiceKeyRow | undefined> =>
  db.one(sql('insert service key', SHAPE)`
    insert into service_keys (id, name, key_hash, key_hint, scopes, owner_prefixes, expires_at, created_at)
    select ${row.id}::uuid, ${row.name}, ${row.key_hash}, ${row.key_hint}, ${row.scopes}::text[],
           ${row.owner_prefixes}::text[], ${row.expires_at}::timestamptz, ${row.created_at}::timestamptz
     where (select count(*) from service_keys where revoked_at is null) < ${limit}
    returning ${COLUMNS}`);

/** The following three change only keys that are not revoked. */
export const updateKey = (
  db: Queries,
  id: string,
  { name, scopes, owner_prefixes, expires_at }: ServiceKeyMembers,
): Promise<ServiceKeyRow | undefined> =>
  db.one(sql('update service key', SHAPE)`
    update service_keys
       set name = ${name}, scopes = ${scopes}::text[], owner_prefixes = ${owner_prefixes}::text[],
           expires_at = ${expires_at}
     where id = ${id} and revoked_at is null
    returning ${COLUMNS}`);

export const replaceKey = (
  db: Queries,
  id: string,
  { key_hash, key_hint, previous_expires_at }: KeyReplacement,
): Promise<ServiceKeyRow | undefined> =>
  db.one(sql('replace service key', SHAPE)`
    update service_keys
       set previous_hash = key_hash, previous_expires_at = ${previous_expires_at},
           key_hash = ${key_hash}, key_hint = ${key_hint}
     where id = ${id} and revoked_at is null
    returning ${COLUMNS}`);

type KeyReplacement = Pick<ServiceKeyRow, 'key_hash' | 'key_hint' | 'previous_expires_at'>;

export const revokeKey = (db: Queries, id: string, at: Date): Promise<ServiceKeyRow | undefined> =>
  db.one(sql('revoke service key', SHAPE)`
    update service_keys set revoked_at = ${at} where id = ${id} and revoked_at is null returning ${COLUMNS}`);

/** At most once a minute for each key, by all processes together. */
export const recordKeyUse = (db: Queries, id: string, at: Date) =>
  db.one(sql('record service key use')`
    update service_keys set last_used_at = ${at}
     where id = ${id}
       and (last_used_at is null or last_used_at <= ${at}::timestamptz - interval '1 minute')`);
