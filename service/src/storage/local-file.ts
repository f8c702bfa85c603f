// Local files with the bytes of objects, for decoders and encoders: the store's own, or a scratch copy.
import { randomUUID } from 'node:crypto';
import { notFound } from '../platform/http/errors.ts';
import { writeScratchFile } from '../platform/process/scratch-file.ts';
import { createScratchFolder, deleteScratchFolder } from '../platform/process/scratch-folder.ts';
import type { StorageContext } from './context.ts';
import type { ObjectKey } from './object-key.ts';

/** The file must not be changed. `sha256` is the digest of a copy, in lower-case hex. */
export type LocalFile = { readonly path: string; readonly sha256?: string };

type Copy = { readonly path: string; readonly signal?: AbortSignal | undefined };

/**
 * Returns the store's own file if it is a disk, otherwise copies the object to `path`. Undefined when the
 * object does not exist.
 */
export async function findLocalFile(
  { store, settings }: StorageContext,
  key: ObjectKey,
  { path, signal }: Copy,
): Promise<LocalFile | undefined> {
  const sizeBytes = await store.size(key);
  if (sizeBytes === undefined) return undefined;
  if (store.localFile) return { path: store.localFile(key) };
  return {
    path,
    sha256: await writeScratchFile(() => store.stream(key), {
      path,
      sizeBytes,
      signal,
      minFreeBytes: settings.minFreeBytes,
    }),
  };
}

/** The caller must close it; a copy exists from `open` to `close`. */
type LocalFileHandle = {
  /** May be called once. Throws NOT_FOUND when the object does not exist. */
  open(signal?: AbortSignal): Promise<LocalFile>;
  close(): Promise<void>;
};

/** Copies nothing before `open`, so that waiting requests need no space. */
export function prepareLocalFile(ctx: StorageContext, key: ObjectKey): LocalFileHandle {
  let folder: string | undefined;
  return {
    async open(signal) {
      if (!ctx.store.localFile)
        folder = await createScratchFolder(ctx.scratchRoot, { work: `copy-${randomUUID()}`, run: '1' });
      const file = await findLocalFile(ctx, key, { path: `${folder}/original`, signal });
      if (!file) throw notFound('This file is not stored');
      return file;
    },
    async close() {
      if (folder !== undefined) await deleteScratchFolder(folder);
    },
  };
}
