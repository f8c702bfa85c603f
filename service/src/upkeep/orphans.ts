// Compares the object store with the database: finds orphaned objects, and assets whose bytes are missing.
import type { OrphanReport } from '@mediary/contract/schemas/operators';
import { isOwnObjectKey, type ObjectKey, originalKey, storeRoots } from '../storage/object-key.ts';
import { isUuid } from '../platform/values/uuid.ts';
import type { MultipartUpload } from '../storage/object-store.ts';
import type { UpkeepContext } from './context.ts';
import { isOrphan, type ObjectOwner, parseKey } from './orphan.ts';
import { findObjectOwners, findUploadIds, listRecordedOriginals } from './upkeep.sql.ts';

const BATCH = 500;
/** The service itself stores large files in parts, and records an upload after it began in the store. */
const MULTIPART_AGE_MS = 86_400_000;
/** The report lists only the first keys and ids, so that the response stays small; counts are complete. */
const MAX_LISTED = 1000;

/** Only lists the orphans unless `dry_run` is false. Ignores objects that another program stored. */
export const sweepOrphans = (
  ctx: UpkeepContext,
  { dry_run: isDryRun = true }: { dry_run?: boolean },
): Promise<OrphanReport> => (isDryRun ? findOrphans(ctx) : deleteOrphans(ctx));

async function findOrphans(ctx: UpkeepContext): Promise<OrphanReport> {
  const readOwners = (ids: readonly string[]) => findObjectOwners(ctx.db, ids, { includesExpired: false });
  return { ...toReport(await collectOrphans(ctx, readOwners)), removed: false };
}

/** Also ends expired uploads, whose objects are orphans then. */
async function deleteOrphans(ctx: UpkeepContext): Promise<OrphanReport> {
  const { db, store } = ctx;
  const orphans = await collectOrphans(ctx, async (ids) => {
    // They cannot finish any more.
    await ctx.uploads.endExpiredUploads(ids);
    return findObjectOwners(db, ids, { includesExpired: true });
  });
  for (const key of orphans.objects) await store.remove(key);
  for (const upload of orphans.multiparts) await store.direct?.abortMultipart(upload);
  return { ...toReport(orphans), removed: true };
}

type Orphans = {
  readonly objects: readonly ObjectKey[];
  readonly multiparts: readonly MultipartUpload[];
  /** Ids of assets whose bytes are missing. */
  readonly assets: readonly string[];
};

type ReadOwners = (assetIds: readonly string[]) => Promise<readonly ObjectOwner[]>;

async function collectOrphans(ctx: UpkeepContext, readOwners: ReadOwners): Promise<Orphans> {
  const objects: ObjectKey[] = [];
  for (const root of storeRoots()) {
    for await (const batch of inBatches(ctx.store.list(root)))
      objects.push(...(await findOrphansAmong(batch, readOwners)));
  }
  return {
    objects,
    multiparts: await findOrphanedMultiparts(ctx),
    assets: await findAssetsWithoutBytes(ctx),
  };
}

const toReport = ({ objects, multiparts, assets }: Orphans) => ({
  object_count: objects.length,
  objects: objects.slice(0, MAX_LISTED),
  multipart_count: multiparts.length,
  multiparts: multiparts.slice(0, MAX_LISTED).map(({ key }) => key),
  asset_count: assets.length,
  assets: assets.slice(0, MAX_LISTED),
});

/** Reads the rows after the keys. An orphan never becomes referenced again, so it can be removed later. */
async function findOrphansAmong(keys: readonly ObjectKey[], readOwners: ReadOwners): Promise<ObjectKey[]> {
  const parsed = keys.filter(isOwnObjectKey).map((key) => ({ key, parts: parseKey(key) }));
  const rows = await readOwners([...new Set(parsed.map(({ parts }) => parts.assetId))]);
  const owners = new Map(rows.map((owner) => [owner.id, owner]));
  return parsed.filter(({ parts }) => isOrphan(parts, owners.get(parts.assetId))).map(({ key }) => key);
}

/** Undefined if the asset does not exist. */
export const findObjectOwner = async (
  { db }: UpkeepContext,
  assetId: string,
): Promise<ObjectOwner | undefined> => (await findObjectOwners(db, [assetId], { includesExpired: true }))[0];

/** Uploads in parts that began more than a day ago, and that no row names: their process ended. */
async function findOrphanedMultiparts({ db, store, clocks }: UpkeepContext): Promise<MultipartUpload[]> {
  const found: MultipartUpload[] = [];
  if (!store.direct) return found;
  const before = (await clocks.databaseNow()).getTime() - MULTIPART_AGE_MS;
  for (const root of storeRoots()) {
    for await (const batch of inBatches(store.direct.listMultiparts(root))) {
      const old = batch.filter(({ key, startedAt }) => isOwnObjectKey(key) && startedAt.getTime() < before);
      const ids = old.map(({ key }) => parseKey(key).folder).filter(isUuid);
      const known = new Set((await findUploadIds(db, ids)).map(({ id }) => id));
      found.push(...old.filter(({ key }) => !known.has(parseKey(key).folder)));
    }
  }
  return found;
}

async function findAssetsWithoutBytes({ db, store }: UpkeepContext): Promise<string[]> {
  const found: string[] = [];
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const originals = await listRecordedOriginals(db, after, BATCH);
    for (const original of originals)
      if ((await store.size(originalKey(original))) === undefined) found.push(original.id);
    if (originals.length < BATCH) return found;
    after = originals.at(-1)?.id ?? after;
  }
}

async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
