// Imports the archive of an owner while it arrives, asset by asset, and reports what became of each.
import { ArchivedCollection, ArchiveManifest } from '@mediary/contract/schemas/admin/owner-archive';
import type { OwnerImport } from '@mediary/contract/schemas/admin/owner-imports';
import { badRequest, type ServiceError } from '../../platform/http/errors.ts';
import { createInvalidMemberFinder } from '../../platform/http/invalid-members.ts';
import { ABOUT_FILE, ARCHIVE_TYPE, collectionPath, MANIFEST_FILE } from '../archive-format.ts';
import type { OwnersContext } from '../context.ts';
import { assertNoErasure } from '../erasure.ts';
import { type ArchiveReader, archiveTooLarge, invalidArchive, openArchive } from './archive-reader.ts';
import { type ImportedItem, importAsset } from './import-asset.ts';
import { type ImportProblem, toProblem } from './import-problem.ts';
import { readJson } from './receive-files.ts';

type ImportRequest = { readonly owner: string; readonly bytes: AsyncIterable<Uint8Array> };

/**
 * Throws before anything is imported: BAD_REQUEST for another archive, CONFLICT during an erasure of the
 * owner, UNAVAILABLE `busy`.
 */
export const importOwner = (ctx: OwnersContext, request: ImportRequest): Promise<OwnerImport> =>
  ctx.limitImports(request.owner, async () => {
    await assertNoErasure(ctx, request.owner);
    const archive = openArchive(ctx, request.bytes);
    try {
      await readHead(archive, request.owner);
      const report = await readAssets(ctx, archive, request.owner);
      ctx.log.info({ owner_user_id: request.owner, ...report.counts }, 'owner imported');
      return report;
    } finally {
      await archive.close();
    }
  });

async function readHead(archive: ArchiveReader, owner: string): Promise<void> {
  const entry = await archive.nextNamed(ABOUT_FILE);
  const about = await readJson<object>(entry, () => []);
  await archive.finish(entry);
  assertArchiveOf({ owner_user_id: undefined, type: undefined, ...about }, owner);
}

type Named = { readonly type: unknown; readonly owner_user_id: unknown };

function assertArchiveOf({ type, owner_user_id: named }: Named, owner: string): void {
  if (type !== ARCHIVE_TYPE) throw invalidArchive(`The archive is not of the type ${ARCHIVE_TYPE}.`);
  if (named !== owner)
    throw badRequest(`The archive is not of the owner "${owner}" in the path.`, {
      reason: 'archive_other_owner',
    });
}

async function readAssets(ctx: OwnersContext, archive: ArchiveReader, owner: string): Promise<OwnerImport> {
  const { assets: maxAssets } = ctx.settings.ownerImportLimits;
  const items: ImportedItem[] = [];
  let assetId: string | undefined;
  try {
    for (let file = await archive.nextFile(); file; file = await archive.nextFile()) {
      if (items.length >= maxAssets)
        throw archiveTooLarge(`The archive has more assets than the maximum of ${maxAssets}.`);
      ({ assetId } = file);
      items.push(await importAsset(ctx, { owner, archive }, file));
      assetId = undefined;
    }
    await importCollections(ctx, archive, owner);
    await verifyManifest(archive, { owner, assets: items.length });
    return toReport(owner, items, null);
  } catch (error) {
    const problem = toProblem(error);
    if (!problem) throw error;
    if (assetId !== undefined) items.push({ asset_id: assetId, result: 'refused', ...problem });
    return toReport(owner, items, problem);
  }
}

const findInvalidCollection = createInvalidMemberFinder(ArchivedCollection);

/** After the assets. Collections that are there stay as they are. */
async function importCollections(ctx: OwnersContext, archive: ArchiveReader, owner: string): Promise<void> {
  for (let entry = await archive.nextCollection(); entry; entry = await archive.nextCollection()) {
    const collection = await readJson<ArchivedCollection>(entry, findInvalidCollection);
    await archive.finish(entry);
    if (collection.owner_user_id !== owner || entry.name !== collectionPath(collection.id.toLowerCase()))
      throw invalidArchive(`${entry.name} is not of the owner of the archive, or has another id.`);
    await ctx.collections.restoreCollection(collection);
  }
}

const findInvalid = createInvalidMemberFinder(ArchiveManifest);

type ExpectedManifest = { readonly owner: string; readonly assets: number };

async function verifyManifest(archive: ArchiveReader, { owner, assets }: ExpectedManifest): Promise<void> {
  const listed = archive.listFiles();
  const manifest = await readJson<ArchiveManifest>(await archive.nextNamed(MANIFEST_FILE), findInvalid);
  assertArchiveOf(manifest, owner);
  if (
    manifest.assets !== assets ||
    manifest.files !== listed.count ||
    manifest.files_sha256 !== listed.sha256
  )
    throw otherFiles();
  await archive.end();
}

const otherFiles = (): ServiceError =>
  invalidArchive(`${MANIFEST_FILE} lists other files than the archive has. Compare it with the original.`);

function toReport(owner: string, items: ImportedItem[], problem: ImportProblem | null): OwnerImport {
  const count = (result: ImportedItem['result']) => items.filter((item) => item.result === result).length;
  return {
    owner_user_id: owner,
    is_complete: problem === null,
    problem,
    counts: {
      imported_count: count('imported'),
      already_there_count: count('already_there'),
      refused_count: count('refused'),
    },
    items,
  };
}
