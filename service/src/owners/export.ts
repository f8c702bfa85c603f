// Exports an owner as a tar archive: originals, captions, metadata and events, with the SHA-256 of each file.
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type Asset, type Caption, isPurged } from '../assets/asset.ts';
import { type FileSum, openTar, type TarWriter } from '../platform/archive/tar-writer.ts';
import { captionKey, type ObjectKey, originalKey } from '../storage/object-key.ts';
import {
  ABOUT_FILE,
  ARCHIVE_TYPE,
  captionPath,
  collectionPath,
  folderOf,
  MANIFEST_FILE,
  toSumLine,
} from './archive-format.ts';
import type { OwnersContext } from './context.ts';
import { toExportedAsset } from './exported-asset.ts';
import { listAssetsOfOwner, NO_ASSET } from './erasure.sql.ts';
import { listCollections, listEvents } from './export.sql.ts';

const PAGE = 50;
const EVENTS_PER_FILE = 1000;

/** Throws UNAVAILABLE `busy` when too many exports run. The archive ends early when an object is lost. */
export function openExport(ctx: OwnersContext, owner: string): Promise<Readable> {
  const { promise, resolve, reject } = Promise.withResolvers<Readable>();
  const run = ctx.limitExports('export', async () => {
    const { archive, done } = openTar((writer) => writeOwner(ctx, writer, owner));
    resolve(archive);
    await done;
  });
  run.catch(reject);
  return promise;
}

/** The list of all files is one digest, so that an export of any size needs little memory. */
async function writeOwner(ctx: OwnersContext, writer: TarWriter, owner: string): Promise<void> {
  const about = { type: ARCHIVE_TYPE, owner_user_id: owner };
  const startedAt = new Date();
  const list = createHash('sha256');
  const counts = { assets: 0, files: 0 };
  const count = (sums: readonly FileSum[]) => {
    counts.files += sums.length;
    for (const sum of sums) list.update(toSumLine(sum));
  };
  const text = toJson({ ...about, exported_at: startedAt.toISOString() });
  count([await writer.writeText(ABOUT_FILE, text, startedAt)]);
  for await (const asset of assetsOf(ctx, owner)) {
    count(await writeAsset(ctx, writer, asset));
    counts.assets += 1;
  }
  for await (const sum of writeCollections(ctx, writer, owner)) count([sum]);
  const manifest = { ...about, ...counts, files_sha256: list.digest('hex') };
  await writer.writeText(MANIFEST_FILE, toJson(manifest), startedAt);
}

/** Behind the assets, so that an import finds these. */
async function* writeCollections(
  { db }: OwnersContext,
  writer: TarWriter,
  owner: string,
): AsyncGenerator<FileSum> {
  let after: string | undefined = NO_ASSET;
  while (after !== undefined) {
    const page: Awaited<ReturnType<typeof listCollections>> = await listCollections(db, owner, {
      after,
      limit: PAGE,
    });
    for (const collection of page)
      yield await writer.writeText(collectionPath(collection.id), toJson(collection), collection.created_at);
    after = page[PAGE - 1]?.id;
  }
}

/** Without those that are deleted for good, and without replacements that are not ready. */
async function* assetsOf({ db }: OwnersContext, owner: string): AsyncGenerator<Asset> {
  let after: string | undefined = NO_ASSET;
  while (after !== undefined) {
    const assets: readonly Asset[] = await listAssetsOfOwner(db, owner, { after, limit: PAGE });
    yield* assets.filter((asset) => !isPurged(asset) && asset.version_of === null);
    after = assets[PAGE - 1]?.id;
  }
}

async function writeAsset(ctx: OwnersContext, writer: TarWriter, asset: Asset): Promise<FileSum[]> {
  const folder = folderOf(asset.id);
  const sums: FileSum[] = [];
  const hasOriginal = asset.uploaded_at !== null && asset.original_upload !== null && !asset.refused;
  const original = hasOriginal
    ? await writeObject(ctx, writer, { key: originalKey(asset), path: `${folder}/original`, asset })
    : undefined;
  if (original) sums.push(original);
  const captions: Caption[] = [];
  for (const caption of asset.captions ?? []) {
    const file = {
      key: captionKey(asset.id, caption.fileId),
      path: captionPath(asset.id, caption.language),
      asset,
    };
    const written = await writeObject(ctx, writer, file);
    if (!written) continue;
    sums.push(written);
    captions.push(caption);
  }
  sums.push(...(await writeEvents(ctx, writer, { asset, folder })));
  const about = toExportedAsset(asset, {
    original: original ? { path: original.path, sha256: original.sha256 } : null,
    captions: captions.map((caption) => ({ path: captionPath(asset.id, caption.language), caption })),
  });
  sums.push(await writer.writeText(`${folder}/asset.json`, toJson(about), asset.updated_at));
  const list = await writer.writeText(`${folder}/SHA256SUMS`, sums.map(toSumLine).join(''), asset.updated_at);
  return [...sums, list];
}

type ExportedObject = { readonly key: ObjectKey; readonly path: string; readonly asset: Asset };

/** Undefined for an object that is not in the store: a provider has it, or the asset was deleted. */
async function writeObject(
  { store }: OwnersContext,
  writer: TarWriter,
  { key, path, asset }: ExportedObject,
): Promise<FileSum | undefined> {
  const sizeBytes = await store.size(key);
  if (sizeBytes === undefined) return undefined;
  return writer.write({ path, sizeBytes, modifiedAt: asset.updated_at, bytes: store.stream(key) });
}

type ExportedEvents = { readonly asset: Asset; readonly folder: string };

async function writeEvents(
  { db }: OwnersContext,
  writer: TarWriter,
  { asset, folder }: ExportedEvents,
): Promise<FileSum[]> {
  const sums: FileSum[] = [];
  let after: string | undefined = NO_ASSET;
  while (after !== undefined) {
    const events: Awaited<ReturnType<typeof listEvents>> = await listEvents(db, asset.id, {
      after,
      limit: EVENTS_PER_FILE,
    });
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    const path = `${folder}/events-${sums.length + 1}.ndjson`;
    if (lines) sums.push(await writer.writeText(path, lines, asset.updated_at));
    after = events[EVENTS_PER_FILE - 1]?.id;
  }
  return sums;
}

const toJson = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;
