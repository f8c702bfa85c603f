// Creates, lists, edits and deletes collections.
import type { CreateCollectionRequest, UpdateCollectionRequest } from '@mediary/contract/schemas/collections';
import type { Actor } from '../assets/asset-event.ts';
import { assertTextLimits } from '../assets/text-limits.ts';
import type { Caller } from '../auth/caller.ts';
import { createCursor, readCursor } from '../auth/list-cursor.ts';
import { assertOwnerAllowed } from '../auth/permissions.ts';
import { badRequest, conflict, forbidden, notFound } from '../platform/http/errors.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { isUuid } from '../platform/values/uuid.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import type { Collection, CountedCollection } from './collection.ts';
import * as queries from './collections.sql.ts';
import type { CollectionsContext } from './context.ts';

/** NOT_FOUND if there is no such collection, FORBIDDEN for another user's. */
export async function findCollectionForCaller(
  ctx: CollectionsContext,
  caller: Caller,
  id: string,
): Promise<Collection> {
  const collection = await getCollection(ctx.db, id);
  if (caller.kind === 'user' && caller.userId !== collection.owner_user_id)
    throw forbidden('You do not own this collection');
  assertOwnerAllowed(caller, collection.owner_user_id);
  return collection;
}

/** Throws NOT_FOUND. */
export async function getCollection(db: Queries, id: string): Promise<Collection> {
  return getFound(isUuid(id) ? await queries.findCollection(db, id.toLowerCase()) : undefined);
}

/** Throws NOT_FOUND. */
export const countAssetsOf = async (
  db: Queries,
  { id }: Pick<Collection, 'id'>,
): Promise<CountedCollection> => getFound(await queries.findCountedCollection(db, id));

export function getFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound('No such collection');
  return found;
}

type Creation = { readonly request: CreateCollectionRequest; readonly id: string | undefined };

/** `id`: of an earlier request with the same Idempotency-Key. */
export async function createCollection(
  ctx: CollectionsContext,
  { ownerUserId }: Pick<Actor, 'ownerUserId'>,
  { request, id = uuidV7() }: Creation,
): Promise<CountedCollection> {
  assertValid(request);
  const row = {
    id,
    owner_user_id: ownerUserId,
    name: request.name,
    description: request.description ?? null,
    visibility: request.visibility ?? 'private',
    metadata: request.metadata ?? null,
    created_at: ctx.clocks.now(),
  };
  return insertUnlessThere(ctx, row, ctx.settings.collectionLimits.perOwner);
}

type NewCollection = Parameters<typeof queries.insertCollection>[1];

/** Throws CONFLICT at the limit of the owner, and during its erasure. */
export async function insertUnlessThere(
  { db }: CollectionsContext,
  row: NewCollection,
  perOwner: number,
): Promise<CountedCollection> {
  return db.transaction(async (tx) => {
    const locked = await queries.lockCollectionCount(tx, row.owner_user_id);
    if (locked?.is_erased)
      throw conflict('The owner is being erased. Nothing can be created until that is completed.', {
        reason: 'owner_is_being_erased',
      });
    const existing = await queries.findCountedCollection(tx, row.id);
    if (existing) return existing;
    const created = await queries.insertCollection(tx, row, perOwner);
    if (created) return { ...created, asset_count: 0 };
    throw conflict(`The owner has ${perOwner} collections, the maximum. Delete one first.`, {
      reason: 'too_many_collections',
      limit: perOwner,
    });
  });
}

type CollectionList = { readonly items: readonly CountedCollection[]; readonly nextCursor: string | null };
type ListRequest = { readonly limit: number; readonly cursor?: string | undefined };

/** Newest first. */
export async function listCollectionPage(
  { db, urlSecrets }: CollectionsContext,
  owner: string,
  { limit, cursor }: ListRequest,
): Promise<CollectionList> {
  const scope = { list: 'collections', owner };
  const belowId = cursor === undefined ? undefined : readCursor(urlSecrets, scope, cursor);
  const rows = await queries.listCollections(db, { owner, belowId, limit: limit + 1 });
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? createCursor(urlSecrets, scope, last.id) : null };
}

export async function updateCollection(
  { db }: CollectionsContext,
  { id }: Collection,
  request: UpdateCollectionRequest,
): Promise<CountedCollection> {
  assertValid(request);
  return db.transaction(async (tx) => {
    const seen = getFound(await queries.lockCollection(tx, id));
    const { name = seen.name, description = seen.description } = request;
    const { visibility = seen.visibility, metadata = seen.metadata } = request;
    await queries.updateCollection(tx, id, { name, description, visibility, metadata });
    return countAssetsOf(tx, { id });
  });
}

/** Its assets stay. A second deletion at the same time is NOT_FOUND. */
export async function deleteCollection({ db }: CollectionsContext, { id }: Collection): Promise<string> {
  return getFound(await queries.deleteCollection(db, id)).id;
}

export function assertValid({ name, description, metadata }: UpdateCollectionRequest): void {
  assertTextLimits({ name, description, metadata });
  if (name?.trim() === '')
    throw badRequest('name must contain a character that is not blank', { field: 'name' });
}
