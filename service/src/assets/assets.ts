// What can be done with assets that exist: find, list, remove. Two of the three doors to an asset are here.
import type { Caller } from '../auth/caller.ts';
import { deriveKey, open, sign } from '../auth/signed-token.ts';
import type { Secret } from '../auth/secret.ts';
import type { ServiceJobs } from '../job-list.ts';
import { badRequest, conflict, forbidden, notFound } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { brokenUniqueRule } from '../platform/postgres/database-errors.ts';
import { isUuid } from '../platform/uuid-v7.ts';
import type { Asset, NewAsset } from './asset.ts';
import { type EventData, newEvent } from './asset-event.ts';
import { findAsset, insertAsset, listAssets, markDeleted } from './assets.sql.ts';

export type AssetNeeds = { readonly db: Database; readonly jobs: ServiceJobs; readonly now: () => Date; readonly urlSecrets: readonly Secret[] };

/** A new asset and its first event; CONFLICT where the provider's video is another asset's. */
export async function create({ db }: AssetNeeds, asset: NewAsset, note: EventData): Promise<Asset> {
  try {
    return await insertAsset(db, asset, newEvent('asset.created', note));
  } catch (error) {
    if (brokenUniqueRule(error)?.startsWith('assets_provider_video')) throw conflict('Another asset is linked to this video', { field: 'provider_video_id' });
    throw error;
  }
}

/** For callers: NOT_FOUND where there is none, FORBIDDEN where it is another user's; a service passes. */
export async function findFor(needs: AssetNeeds, caller: Caller, id: string): Promise<Asset> {
  const asset = await byId(needs, id);
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  if (caller.kind === 'user' && caller.userId !== asset.owner_user_id) throw forbidden('The asset is another user\'s');
  return asset;
}

/** For jobs and verified reports: whoever it belongs to, a tombstone too. */
export const byId = async ({ db }: AssetNeeds, id: string): Promise<Asset | undefined> => (isUuid(id) ? findAsset(db, id) : undefined);

export type Page = { readonly items: readonly Asset[]; readonly nextCursor: string | null };

/** A page of what an owner has, newest first. */
export async function list({ db, urlSecrets }: AssetNeeds, owner: string, { cursor, limit }: { cursor: string | undefined; limit: number }): Promise<Page> {
  const keys = urlSecrets.map((root) => deriveKey(root, 'cursor'));
  const before = cursor === undefined ? null : readCursor(keys, owner, cursor);
  const rows = await listAssets(db, owner, { before, limit: limit + 1 });
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? sign(keys[0] as Secret, `${last.id}:${owner}`) : null };
}

/** A cursor is good for the owner it was made for, and for nobody else. */
function readCursor(keys: readonly Secret[], owner: string, cursor: string): string {
  const payload = open(keys, cursor);
  if (payload?.slice(37) !== owner) throw badRequest('cursor is not one that this list gave', { field: 'cursor' });
  return payload.slice(0, 36);
}

/** Stops everything that the asset shows at once; its bytes are removed by a job. */
export async function remove({ db, jobs, now }: AssetNeeds, asset: Asset, note: EventData): Promise<{ id: string; deleted: true }> {
  await db.transaction(async (tx) => {
    const gone = await markDeleted(tx, asset.id, { event: newEvent('asset.deleted', note), now: now() });
    if (!gone) throw notFound('No such asset');
    await jobs.send(tx, 'purge-asset', { assetId: asset.id });
  });
  return { id: asset.id, deleted: true };
}
