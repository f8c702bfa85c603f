// Files of the operator in folders of this machine. A move gives a file another name. A copy shares its
// blocks where the file system can (btrfs, XFS), and is a second file elsewhere.
import { constants, type Stats } from 'node:fs';
import { copyFile, type FileHandle, link, lstat, open, realpath, stat } from 'node:fs/promises';
import { syncFile } from '../../platform/disk/sync-folder.ts';
import type { ObjectKey } from '../object-key.ts';
import {
  type CopiedSource,
  type ObjectStore,
  ObjectStoreError,
  SourceError,
  type SourceObject,
  type SourceObjects,
} from '../object-store.ts';
import { assertForeign, parseSource, undefinedIfMissing } from '../sources/source-url.ts';
import { failedWith, removeFile } from './folders.ts';

export type FolderSources = {
  /** The places of ADOPT_SOURCES. */
  readonly allowed: readonly string[];
  /** Folders of the service: its store, and its data with secrets. */
  readonly ownFolders: readonly string[];
};

type Target = Pick<ObjectStore, 'put'> & {
  /** Gives the synced file that `write` makes its final name. */
  readonly publish: (key: ObjectKey, write: (temporary: string) => Promise<void>) => Promise<void>;
};

const FILE_MODE = 0o600;
const READ_BYTES = 1024 * 1024;

export function openFolderSources({ allowed, ownFolders }: FolderSources, target: Target): SourceObjects {
  const toPath = async (url: string): Promise<string> => {
    const { name, below } = parseSource(url, { scheme: 'file', allowed, own: [] });
    const path = await realpath(name).catch(explain);
    // Links above the place are the operator's; one below it could lead anywhere.
    if (path !== `${await realpath(below)}/${name.slice(below.length)}`)
      throw new SourceError('source_refused', 'source is a symbolic link, or lies behind one');
    const own = await Promise.all(ownFolders.map((folder) => realpath(folder)));
    assertForeign(
      path,
      own.map((folder) => `${folder}/`),
    );
    return path;
  };
  return {
    find: async (url) => {
      const found = await stat(await toPath(url)).catch(explain);
      assertFile(found);
      return { url, sizeBytes: found.size, version: versionOf(found), contentType: null };
    },
    copy: async (source, { to, isMove, signal }) => {
      const path = await toPath(source.url);
      const file = await openSource(path, source);
      try {
        if (isMove && (await mayTake(file))) {
          const taken = await take(target, { file, path, to });
          if (taken) return taken;
        }
        if (await shareBlocks(target, { file, path, to })) return { ...source, sha256: null };
        return await copyBytes(target, { file, source, to, signal });
      } finally {
        await file.close();
      }
    },
    remove: async ({ url, version }) => {
      const path = await toPath(url).catch(undefinedIfMissing);
      if (path === undefined || versionOf(await lstat(path)) !== version) return false;
      return removeFile(path);
    },
  };
}

const versionOf = ({ dev, ino, size, mtimeMs }: Stats): string => [dev, ino, size, mtimeMs].join('-');

function assertFile(found: Stats): void {
  if (!found.isFile()) throw new SourceError('source_unreadable', 'source is no file');
}

/** Does not follow a link, nor wait for a pipe, that took the place of the file meanwhile. */
async function openSource(path: string, { version }: SourceObject): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(explain);
  try {
    const opened = await file.stat();
    assertFile(opened);
    if (versionOf(opened) !== version || (await isElsewhere(file, path))) throw changed();
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

const changed = () => new SourceError('source_changed', 'source was changed while it was copied');

const descriptorPath = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** A folder on the way may have become a link. Only Linux tells which file is open. */
async function isElsewhere(file: FileHandle, path: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return (await realpath(descriptorPath(file))) !== path;
}

/** Others could change the bytes of a file that has another name, or another owner. */
async function mayTake(file: FileHandle): Promise<boolean> {
  const { nlink, uid } = await file.stat();
  const user = process.geteuid?.();
  return nlink === 1 && user !== undefined && [uid, ROOT].includes(user);
}

const ROOT = 0;

type SourceFile = { readonly file: FileHandle; readonly path: string; readonly to: ObjectKey };

/** Links are refused across file systems, and by some file systems. */
const NO_LINK = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP'];

/** Undefined where the file cannot be linked. */
async function take({ publish }: Target, { file, path, to }: SourceFile): Promise<CopiedSource | undefined> {
  try {
    await publish(to, async (temporary) => {
      await link(path, temporary);
      const [linked, opened] = await Promise.all([lstat(temporary), file.stat()]);
      if (linked.ino !== opened.ino || linked.dev !== opened.dev) throw changed();
      await file.chown(process.geteuid?.() ?? -1, process.getegid?.() ?? -1);
      await file.chmod(FILE_MODE);
      // A check takes old objects without a row for orphans.
      await file.utimes(new Date(), new Date());
      await syncFile(file.fd);
    });
  } catch (error) {
    if (failedWith(error, ...NO_LINK)) return undefined;
    throw error;
  }
  const taken = await file.stat();
  return { sizeBytes: taken.size, version: versionOf(taken), sha256: null };
}

const NO_CLONE = [...NO_LINK, 'EINVAL', 'ENOSYS', 'ENOTTY', 'EACCES'];

/** False where the file system cannot share blocks. */
async function shareBlocks({ publish }: Target, { file, path, to }: SourceFile): Promise<boolean> {
  const from = process.platform === 'linux' ? descriptorPath(file) : path;
  try {
    await publish(to, async (temporary) => {
      await copyFile(from, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
      const copy = await open(temporary, 'r+');
      try {
        await copy.chmod(FILE_MODE);
        await copy.utimes(new Date(), new Date());
        await syncFile(copy.fd);
      } finally {
        await copy.close();
      }
    });
    return true;
  } catch (error) {
    if (failedWith(error, ...NO_CLONE)) return false;
    throw error;
  }
}

type ByteCopy = Omit<SourceFile, 'path'> & { readonly source: SourceObject; readonly signal: AbortSignal };

async function copyBytes({ put }: Target, { file, source, to, signal }: ByteCopy): Promise<CopiedSource> {
  async function* read() {
    yield* file.createReadStream({ start: 0, autoClose: false, highWaterMark: READ_BYTES, signal });
    if (versionOf(await file.stat()) !== source.version) throw changed();
  }
  const { sizeBytes, sha256 } = await put(to, read(), source.sizeBytes).catch(throwSourceError);
  return { sizeBytes, sha256, version: source.version };
}

/** The store reports an error of the source as its cause, and a file that has grown as too long. */
function throwSourceError(error: unknown): never {
  if (!(error instanceof ObjectStoreError)) throw error;
  if (error.reason === 'too_long') throw changed();
  throw error.reason === 'cut_short' && error.cause instanceof Error ? error.cause : error;
}

/** Throws what an operator can end as SourceError, other errors unchanged. */
function explain(cause: unknown): never {
  if (failedWith(cause, 'ENOENT', 'ENOTDIR'))
    throw new SourceError('source_missing', 'source does not exist', { cause });
  if (failedWith(cause, 'EACCES', 'EPERM'))
    throw new SourceError('source_unreadable', 'source cannot be read: the service has no right to read it', {
      cause,
    });
  if (failedWith(cause, 'ELOOP'))
    throw new SourceError('source_refused', 'source is a symbolic link, or lies behind one', { cause });
  throw cause;
}
