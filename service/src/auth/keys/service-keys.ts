// Operations on named service keys, for operators (contract A4).
import { conflict, notFound, badRequest } from '../../platform/http/errors.ts';
import { isPlainText, notPlainText } from '../../platform/values/plain-text.ts';
import type { Transaction } from '../../platform/postgres/database.ts';
import { findViolatedConstraint } from '../../platform/postgres/database-errors.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { AuthContext } from '../context.ts';
import { createCursor, readCursor } from '../list-cursor.ts';
import { createNamedKey, digestOfKey } from './service-key-grant.ts';
import { MAX_SERVICE_KEYS } from './service-key-lookup.ts';
import {
  findKey,
  insertKey,
  listKeyRows,
  lockKey,
  replaceKey,
  revokeKey,
  type ServiceKeyFilter,
  type ServiceKeyMembers,
  type ServiceKeyRow,
  updateKey,
} from './service-keys.sql.ts';

/** `key` exists only here and at the caller; the database has its digest. */
export type CreatedKey = { readonly row: ServiceKeyRow; readonly key: string };

type KeyQuery = Omit<ServiceKeyFilter, 'afterId'> & { readonly cursor?: string | undefined };
type KeyPage = { readonly rows: readonly ServiceKeyRow[]; readonly nextCursor: string | null };

/** Newest first. */
export async function listServiceKeys(
  { db, urlSecrets }: AuthContext,
  { limit, includeRevoked, cursor }: KeyQuery,
): Promise<KeyPage> {
  const scope = { list: 'service keys', includeRevoked };
  const afterId = cursor === undefined ? undefined : readCursor(urlSecrets, scope, cursor);
  const rows = await listKeyRows(db, { includeRevoked, afterId, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { rows: page, nextCursor: last ? createCursor(urlSecrets, scope, last.id) : null };
}

/** Throws NOT_FOUND. */
export async function getServiceKey({ db }: AuthContext, id: string): Promise<ServiceKeyRow> {
  return getFound(await findKey(db, parseId(id)));
}

function parseId(id: string): string {
  if (!isUuid(id)) throw keyNotFound();
  return id;
}

function getFound(row: ServiceKeyRow | undefined): ServiceKeyRow {
  if (!row) throw keyNotFound();
  return row;
}

const keyNotFound = () => notFound('No such service key');

/** Throws BAD_REQUEST and CONFLICT. */
export async function createServiceKey(
  { db, now, namedKeys }: AuthContext,
  members: ServiceKeyMembers,
): Promise<CreatedKey> {
  assertMembers(members, now());
  const { key, ...stored } = createSecret();
  const row = { ...members, ...stored, id: uuidV7(), created_at: now() };
  const inserted = await insertKey(db, row, MAX_SERVICE_KEYS).catch(throwNameTaken);
  if (!inserted)
    throw conflict(`There are ${MAX_SERVICE_KEYS} service keys. Revoke those that are not used.`, {
      limit: MAX_SERVICE_KEYS,
    });
  namedKeys.invalidate();
  return { row: inserted, key };
}

/** Throws NOT_FOUND, BAD_REQUEST and CONFLICT. */
export async function updateServiceKey(
  ctx: AuthContext,
  id: string,
  changes: Partial<ServiceKeyMembers>,
): Promise<ServiceKeyRow> {
  // The lock lets concurrent updates of other members apply one after another, so that none is lost.
  const update = async (tx: Transaction) => {
    const { name, scopes, owner_prefixes, expires_at } = getFound(await lockKey(tx, parseId(id)));
    const members = { name, scopes, owner_prefixes, expires_at, ...changes };
    assertMembers(members, changes.expires_at === undefined ? undefined : ctx.now());
    return updateKey(tx, id, members);
  };
  const updated = await ctx.db.transaction(update).catch(throwNameTaken);
  ctx.namedKeys.invalidate();
  return updated ?? throwRevoked();
}

/** Throws NOT_FOUND. Has no effect on a revoked key. */
export async function revokeServiceKey(ctx: AuthContext, id: string): Promise<ServiceKeyRow> {
  await getServiceKey(ctx, id);
  const revoked = await revokeKey(ctx.db, id, ctx.now());
  ctx.namedKeys.invalidate();
  return revoked ?? getServiceKey(ctx, id);
}

/** Throws NOT_FOUND and CONFLICT. */
export async function rotateServiceKey(
  ctx: AuthContext,
  id: string,
  overlapSeconds: number,
): Promise<CreatedKey> {
  await getServiceKey(ctx, id);
  const { key, ...stored } = createSecret();
  const previousExpiresAt = new Date(ctx.now().getTime() + overlapSeconds * 1000);
  const row = await replaceKey(ctx.db, id, { ...stored, previous_expires_at: previousExpiresAt });
  ctx.namedKeys.invalidate();
  return { row: row ?? throwRevoked(), key };
}

const HINT_LENGTH = 4;

function createSecret() {
  const key = createNamedKey();
  return { key, key_hash: digestOfKey(key), key_hint: key.slice(-HINT_LENGTH) };
}

/** `now`: undefined where the expiry does not change. */
function assertMembers(
  { name, scopes, owner_prefixes, expires_at }: ServiceKeyMembers,
  now: Date | undefined,
): void {
  if (!isPlainText(name)) throw notPlainText('name');
  if (!owner_prefixes.every(isPlainText)) throw notPlainText('owner_prefixes');
  if (scopes.includes('webhooks') && owner_prefixes.length > 0)
    throw badRequest(
      'owner_prefixes must be empty with the scope webhooks: endpoints receive the events of all owners',
      { field: 'owner_prefixes' },
    );
  if (now && expires_at && expires_at <= now)
    throw badRequest('expires_at must be in the future', { field: 'expires_at' });
}

function throwNameTaken(error: unknown): never {
  if (findViolatedConstraint(error) !== 'service_keys_name') throw error;
  throw conflict('Another service key has this name', { field: 'name', reason: 'name_taken' });
}

function throwRevoked(): never {
  throw conflict('The service key is revoked. Create another one.', { reason: 'key_revoked' });
}
