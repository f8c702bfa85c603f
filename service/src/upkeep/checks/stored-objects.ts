// Compares the object store with the database: finds objects and uploads in parts that no row needs.
import { isPurged } from '../../assets/asset.ts';
import { inBatches } from '../../platform/concurrency/in-batches.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import {
  isOwnObjectKey,
  type ObjectKey,
  originalKey,
  parseOriginalName,
  storeRoots,
} from '../../storage/object-key.ts';
import type { ListedObject } from '../../storage/object-store.ts';
import type { UpkeepContext } from '../context.ts';
import { isOrphan, type ObjectOwner, parseKey } from '../orphan.ts';
import { findObjectOwners, findUploadIds } from '../upkeep.sql.ts';
import type { CheckOptions, Finding } from './check.sql.ts';

const BATCH = 500;
/** The service itself stores large files in parts, and records an upload after it began in the store. */
const MULTIPART_AGE_MS = 86_400_000;

/** `position`: the last object that was compared. */
type ObjectBatch = {
  readonly findings: readonly Finding[];
  readonly objects: number;
  readonly position: ObjectKey;
};

/** Continues behind `position`, unless it is empty. Ignores objects that another program stored. */
export async function* compareObjects(
  ctx: UpkeepContext,
  options: CheckOptions,
  position: string,
): AsyncGenerator<ObjectBatch> {
  const before = new Date((await ctx.clocks.databaseNow()).getTime() - options.orphanAgeSeconds * 1000);
  const roots = storeRoots();
  const first = Math.max(
    0,
    roots.findIndex((root) => position.startsWith(root)),
  );
  for (const root of roots.slice(first)) {
    const after = position.startsWith(root) ? (position as ObjectKey) : undefined;
    for await (const batch of inBatches(ownObjects(ctx.store.listSizes(root, after)), BATCH))
      yield {
        findings: await findOrphansAmong(ctx, batch, { ...options, before }),
        objects: batch.length,
        position: (batch.at(-1) as ListedObject).key,
      };
  }
}

async function* ownObjects(listed: AsyncIterable<ListedObject>): AsyncGenerator<ListedObject> {
  for await (const object of listed) if (isOwnObjectKey(object.key)) yield object;
}

type OrphanFilter = Pick<CheckOptions, 'deleteUnknown'> & { readonly before: Date };

/** Reads the rows after the keys. An orphan never becomes referenced again, so it can be removed later. */
async function findOrphansAmong(
  ctx: UpkeepContext,
  listed: readonly ListedObject[],
  { deleteUnknown, before }: OrphanFilter,
): Promise<Finding[]> {
  const objects = listed.map((object) => ({ ...object, parts: parseKey(object.key) }));
  const ids = [...new Set(objects.map(({ parts }) => parts.assetId))];
  const rows = await findObjectOwners(ctx.db, ids, { includesExpired: false });
  const owners = new Map(rows.map((owner) => [owner.id, owner]));
  const findings: Finding[] = [];
  for (const { key, sizeBytes, modifiedAt, parts } of objects) {
    const owner = owners.get(parts.assetId);
    const isOld = modifiedAt <= before;
    // No upload of an unknown asset can be under way, so it is reported at any age.
    if (owner && !(isOld && isOrphan(parts, owner))) continue;
    const isUnknown = !owner || (await mayBeOnlyCopy(ctx, parts, owner));
    const isKept = owner?.legal_hold || (isUnknown && !(deleteUnknown && isOld));
    findings.push({
      kind: isUnknown ? 'unknown_object' : 'orphaned_object',
      repair: isKept ? 'none' : 'delete_object',
      key,
      asset_id: parts.assetId,
      size_bytes: sizeBytes,
    });
  }
  return findings;
}

/** Whether an upload that the row does not name is the only one that is stored. */
export async function mayBeOnlyCopy(
  { store }: Pick<UpkeepContext, 'store'>,
  { kind, folder }: Pick<ReturnType<typeof parseKey>, 'kind' | 'folder'>,
  owner: ObjectOwner,
): Promise<boolean> {
  if (kind !== 'originals' || parseOriginalName(folder).isTail || isPurged(owner) || owner.refused)
    return false;
  return owner.uploaded_at === null || (await store.size(originalKey(owner))) === undefined;
}

/** Uploads in parts that began more than a day ago, and that no row names: their process ended. */
export async function findOrphanedUploads({ db, store, clocks }: UpkeepContext): Promise<Finding[]> {
  const found: Finding[] = [];
  if (!store.direct) return found;
  const before = (await clocks.databaseNow()).getTime() - MULTIPART_AGE_MS;
  for (const root of storeRoots()) {
    for await (const batch of inBatches(store.direct.listMultiparts(root), BATCH)) {
      const old = batch.filter(({ key, startedAt }) => isOwnObjectKey(key) && startedAt.getTime() < before);
      const uploads = old.map((upload) => ({ ...upload, parts: parseKey(upload.key) }));
      const ids = uploads.map(({ parts }) => parts.folder).filter(isUuid);
      const known = new Set((await findUploadIds(db, ids)).map(({ id }) => id));
      for (const { key, parts } of uploads)
        if (!known.has(parts.folder))
          found.push({ kind: 'orphaned_upload', repair: 'abort_upload', key, asset_id: parts.assetId });
    }
  }
  return found;
}

/** Undefined if the asset does not exist. Uploads whose lease expired can finish until they are ended. */
export const findObjectOwner = async (
  { db }: Pick<UpkeepContext, 'db'>,
  assetId: string,
): Promise<ObjectOwner | undefined> => (await findObjectOwners(db, [assetId], { includesExpired: true }))[0];
