// Objects that arrive in several requests: files beside the objects, which get their names when they are
// complete.
import { access, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectKey } from '../object-key.ts';
import { ObjectRefused, type PartialObjects } from '../object-store.ts';
import { failedWith, removeFile, syncFolder } from './folders.ts';
import { batchesOf, bytesIn, publish, writeFully } from './incoming.ts';

type PartialPlaces = {
  /** On the file system of the objects. */
  readonly folder: string;
  readonly pathOf: (key: ObjectKey) => string;
  /** Throws ObjectRefused `full` while only the reserve is free. */
  readonly requireSpace: () => Promise<void>;
};

export function openPartialFiles({ folder, pathOf, requireSpace }: PartialPlaces): PartialObjects {
  const partialPath = (key: ObjectKey) => join(folder, key.split('/').slice(1).join('_'));
  return {
    append: async (key, bytes, offset) => {
      await requireSpace();
      return append({ folder, path: partialPath(key) }, bytes, offset).catch(throwRefused);
    },
    finish: (key) => finish(partialPath(key), pathOf(key)),
    discard: async (key) => {
      await removeFile(partialPath(key));
    },
  };
}

function throwRefused(error: unknown): never {
  if (failedWith(error, 'ENOSPC', 'EDQUOT')) throw new ObjectRefused('full', { cause: error });
  throw error;
}

type PartialFile = { readonly folder: string; readonly path: string };

/**
 * Bytes beyond the offset are not acknowledged: an earlier request wrote them and ended before it recorded
 * them.
 */
async function append(
  { folder, path }: PartialFile,
  bytes: AsyncIterable<Uint8Array>,
  offset: number,
): Promise<number> {
  await using file = await openAt(path, offset);
  let length = offset;
  for await (const batch of batchesOf(bytes, Number.POSITIVE_INFINITY)) {
    await writeFully(file, batch, length);
    length += bytesIn(batch);
  }
  await file.sync();
  if (offset === 0) await syncFolder(folder);
  return length;
}

async function openAt(path: string, offset: number) {
  if (offset === 0) return open(path, 'w', 0o600);
  const file = await open(path, 'r+').catch((cause: unknown) => {
    throw failedWith(cause, 'ENOENT') ? new ObjectRefused('lost', { cause }) : cause;
  });
  try {
    if ((await file.stat()).size < offset) throw new ObjectRefused('lost');
    await file.truncate(offset);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Can be repeated, because a process may end at any point of it. */
async function finish(partial: string, path: string): Promise<void> {
  if (!(await exists(path))) {
    try {
      await publish(partial, path);
    } catch (error) {
      if (!(await exists(path))) throw error;
    }
  }
  await removeFile(partial);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
