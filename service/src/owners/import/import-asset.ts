// Imports one asset of an archive: whole in one transaction, or not at all.
import type { OwnerImport } from '@mediary/contract/schemas/admin/owner-imports';
import type { Asset } from '../../assets/asset.ts';
import { assertCaptionable } from '../../captions/caption-list.ts';
import { badRequest, conflict, isUnavailable, ServiceError } from '../../platform/http/errors.ts';
import { captionKey, uploadKey } from '../../storage/object-key.ts';
import { toSumLine } from '../archive-format.ts';
import type { OwnersContext } from '../context.ts';
import { type ArchiveReader, type FolderFile, invalidArchive } from './archive-reader.ts';
import { toRefusal } from './import-problem.ts';
import { type AssetFolder, readText, receiveFile } from './receive-files.ts';
import {
  assertRestorable,
  assertSameAsset,
  toRestoredAsset,
  toRestoredCaptions,
  toUploadRequest,
} from './restored-asset.ts';

export type ImportedItem = OwnerImport['items'][number];
type ArchivedOwner = { readonly owner: string; readonly archive: ArchiveReader };

/** Throws what ends the import; nothing of the asset is stored then. */
export async function importAsset(
  ctx: OwnersContext,
  { owner, archive }: ArchivedOwner,
  first: FolderFile,
): Promise<ImportedItem> {
  const { assetId } = first;
  const folder = await openFolder(ctx, assetId);
  try {
    await readFolder(ctx, { folder, archive }, first);
    if (folder.refusal) throw folder.refusal;
    const existing = folder.existing ?? (await restore(ctx, folder, owner));
    if (!existing) return { asset_id: assetId, result: 'imported', code: null, message: null };
    assertSameAsset(existing, owner, folder.files.find(isOriginal));
    await discard(ctx, folder);
    return { asset_id: assetId, result: 'already_there', code: null, message: null };
  } catch (error) {
    // After a lost connection the row may name the files, so only a refusal removes them.
    if (!folder.isCommitting || isRefused(error)) await discard(ctx, folder);
    const refusal = toRefusal(error);
    if (!refusal) throw error;
    return { asset_id: assetId, result: 'refused', ...refusal };
  }
}

const isOriginal = ({ path }: { readonly path: string }): boolean => path.endsWith('/original');
const isRefused = (error: unknown): boolean => error instanceof ServiceError && !isUnavailable(error);

const openFolder = async ({ lifecycle }: OwnersContext, assetId: string): Promise<AssetFolder> => ({
  assetId,
  existing: await lifecycle.findAssetById(assetId),
  refusal: undefined,
  files: [],
  original: undefined,
  about: undefined,
  captions: [],
  history: [],
  historyBytes: 0,
  isCommitting: false,
});

/** The service stores nothing for them; captions have one of each language, events few. */
const MAX_FILES = 1000;

type OpenFolder = { readonly folder: AssetFolder; readonly archive: ArchiveReader };

/** Reads the files up to the list of their checksums, which is the last one. */
async function readFolder(
  ctx: OwnersContext,
  { folder, archive }: OpenFolder,
  first: FolderFile,
): Promise<void> {
  let file: FolderFile | undefined = first;
  while (file && file.kind !== 'sums') {
    assertNextFile(folder, file);
    await receive(ctx, folder, file);
    const { name: path, sizeBytes } = file.entry;
    folder.files.push({ path, sizeBytes, sha256: await archive.finish(file.entry) });
    file = await archive.nextFile();
  }
  if (!file) throw unfinished(folder);
  assertNextFile(folder, file);
  await verifySums(folder, file);
  await archive.finish(file.entry);
}

function assertNextFile(folder: AssetFolder, { assetId, entry }: FolderFile): void {
  const { files } = folder;
  if (assetId !== folder.assetId || files.length >= MAX_FILES) throw unfinished(folder);
  if (files.some(({ path }) => path === entry.name))
    throw invalidArchive(`The archive has ${JSON.stringify(entry.name)} twice.`);
}

const unfinished = ({ assetId }: AssetFolder): ServiceError =>
  invalidArchive(`The files of the asset ${assetId} do not end with its SHA256SUMS.`);

/** A refused asset is read to its end, so that the next one is found. */
async function receive(ctx: OwnersContext, folder: AssetFolder, file: FolderFile): Promise<void> {
  if (folder.refusal || folder.existing) return;
  try {
    await receiveFile(ctx, folder, file);
  } catch (error) {
    if (!(error instanceof ServiceError) || !toRefusal(error)) throw error;
    folder.refusal = error;
  }
}

async function verifySums(folder: AssetFolder, { entry }: FolderFile): Promise<void> {
  const sums = await readText(entry).catch((error: unknown) => {
    if (!toRefusal(error)) throw error;
    return undefined;
  });
  if (sums === folder.files.map(toSumLine).join('')) return;
  folder.refusal ??= badRequest('The files of the asset do not match its SHA256SUMS.', {
    reason: 'checksum_mismatch',
  });
}

const ACTOR = { source: 'operator', imported: true } as const;

/** Undefined if the asset was restored; otherwise the asset that has its id. Throws why it is refused. */
async function restore(ctx: OwnersContext, folder: AssetFolder, owner: string): Promise<Asset | undefined> {
  const { assetId: id, about, original, history } = folder;
  const now = ctx.now();
  if (!about) throw badRequest('The archive has no asset.json of the asset.', { reason: 'asset_invalid' });
  assertRestorable(about, { id, owner, now });
  if (!original || original.sha256 !== about.original?.sha256)
    throw badRequest('asset.json names another original than the archive has.', { reason: 'asset_invalid' });
  const captions = toRestoredCaptions(about, folder.captions);
  const asset = toRestoredAsset(about, {
    upload: ctx.uploads.toRestoredUpload(toUploadRequest(about)),
    owner,
    original,
    captions,
    history,
    duplicateOf: await ctx.lifecycle.findDuplicate({ id, owner_user_id: owner }, original.sha256),
    now,
    trashDays: ctx.settings.trashDays,
  });
  if (captions.length > 0) assertCaptionable(asset);
  const completion = await ctx.uploads.checkRestoredUpload(asset, ACTOR);
  folder.isCommitting = true;
  const restored = await ctx.usage.underQuota(owner, () =>
    ctx.lifecycle.restoreAsset({ asset, completion, history }),
  );
  if (restored) return undefined;
  const existing = await ctx.lifecycle.findAssetById(id);
  if (existing) return existing;
  throw conflict('Another request erased the asset meanwhile.', { reason: 'asset_deleted' });
}

/** What cannot be removed now is found by a storage check. */
async function discard(
  { store }: OwnersContext,
  { assetId, original, captions }: AssetFolder,
): Promise<void> {
  const keys = captions.map(({ fileId }) => captionKey(assetId, fileId));
  if (original) keys.push(uploadKey(assetId, original.uploadId));
  await Promise.allSettled(keys.map((key) => store.remove(key)));
}
