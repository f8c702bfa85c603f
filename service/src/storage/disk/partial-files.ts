// Objects that arrive in several requests: files beside the objects, which get their names when they are
// complete.
import { access, type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectKey } from '../object-key.ts';
import { bytesIn } from '../received-bytes.ts';
import { ObjectStoreError, type PartialObject, type PartialObjects } from '../object-store.ts';
import { isNoSpace } from '../../platform/disk/free-space.ts';
import { syncFolder } from '../../platform/disk/sync-folder.ts';
import { failedWith, removeFile } from './folders.ts';
import { batchesOf, publish, whileSpace, writeBehind, writeFully } from './incoming.ts';

const SYNC_BYTES = 8 * 1024 * 1024;
/** The free space is checked at this interval, so that a large object cannot use up the reserve. */
const SPACE_CHECK_BYTES = 4 * 1024 * 1024;

type PartialPlaces = {
  /** On the file system of the objects. */
  readonly folder: string;
  readonly pathOf: (key: ObjectKey) => string;
  /** Throws ObjectStoreError `full` while only the reserve is free. */
  readonly requireSpace: () => Promise<void>;
};

export function openPartialFiles({ folder, pathOf, requireSpace }: PartialPlaces): PartialObjects {
  const partialPath = (key: ObjectKey) => join(folder, key.split('/').slice(1).join('_'));
  return {
    append: async (partial, bytes, maxBytes) => {
      const file = { folder, path: partialPath(partial.key), requireSpace };
      const batches = batchesOf(bytes, maxBytes - partial.length);
      return { ...partial, length: await append(file, batches, partial.length).catch(throwRefused) };
    },
    finish: (partial) => finish(partial, partialPath(partial.key), pathOf(partial.key)),
    discard: async (key) => {
      await removeFile(partialPath(key));
    },
  };
}

function throwRefused(error: unknown): never {
  if (isNoSpace(error)) throw new ObjectStoreError('full', { cause: error });
  throw error;
}

type PartialFile = Pick<PartialPlaces, 'folder' | 'requireSpace'> & { readonly path: string };

/**
 * Bytes beyond the offset are not acknowledged: an earlier request wrote them and ended before it recorded
 * them.
 */
async function append(
  { folder, path, requireSpace }: PartialFile,
  batches: AsyncIterable<Uint8Array[]>,
  offset: number,
): Promise<number> {
  await using file = await openAt(path, offset);
  const length = await writeAll({ file, requireSpace }, batches, offset);
  if (offset === 0) await syncFolder(folder);
  return length;
}

async function writeAll(
  { file, requireSpace }: Pick<PartialPlaces, 'requireSpace'> & { readonly file: FileHandle },
  batches: AsyncIterable<Uint8Array[]>,
  offset: number,
): Promise<number> {
  let length = offset;
  const sync = startSyncing(file);
  const checked = whileSpace(batches, { requireSpace, everyBytes: SPACE_CHECK_BYTES });
  await writeBehind(checked, async (batch) => {
    await writeFully(file, batch, length);
    length += bytesIn(batch);
    sync.addWritten(bytesIn(batch));
  });
  await sync.end();
  return length;
}

/** Syncs while more bytes arrive, so that the last sync is short. */
function startSyncing(file: FileHandle) {
  let unsynced = 0;
  let running: Promise<void> | undefined;
  let failure: unknown;
  const run = async () => {
    try {
      await file.datasync();
    } catch (error) {
      // The system reports a failed write only once.
      failure ??= error;
    }
    running = undefined;
  };
  return {
    addWritten: (bytes: number) => {
      unsynced += bytes;
      if (running || unsynced < SYNC_BYTES) return;
      unsynced = 0;
      running = run();
    },
    end: async () => {
      await running;
      if (failure !== undefined) throw failure;
      await file.sync();
    },
  };
}

async function openAt(path: string, offset: number) {
  if (offset === 0) return open(path, 'w', 0o600);
  const file = await open(path, 'r+').catch((cause: unknown) => {
    throw failedWith(cause, 'ENOENT') ? new ObjectStoreError('lost', { cause }) : cause;
  });
  try {
    const { size } = await file.stat();
    if (size < offset) throw new ObjectStoreError('lost');
    if (size > offset) await file.truncate(offset);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Can be repeated, because a process may end at any point of it. */
async function finish({ length }: PartialObject, partial: string, path: string): Promise<void> {
  if (!(await exists(path))) {
    try {
      await cutTo(partial, length);
      await publish(partial, path);
    } catch (error) {
      if (!(await exists(path))) throw error;
    }
  }
  await removeFile(partial);
}

/** Removes what an interrupted request wrote beyond the length. */
async function cutTo(path: string, length: number): Promise<void> {
  await using file = await openAt(path, length);
  await file.sync();
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
