// Local files of originals, which the chunks of a video that this process encodes share.
import { randomUUID } from 'node:crypto';
import { untilAborted } from '../../platform/concurrency/until-aborted.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import type { LocalFile } from '../../storage/local-file.ts';
import type { ObjectKey } from '../../storage/object-key.ts';
import type { EncodingContext, SharedOriginals } from '../context.ts';

/** The context without what is created here. */
type CopyContext = Pick<EncodingContext, 'store' | 'log'> & {
  readonly worker: Pick<EncodingContext['worker'], 'findLocalFile' | 'scratchRoot'>;
};

type Copy = {
  users: number;
  readonly folder: Promise<string>;
  readonly file: Promise<LocalFile | undefined>;
  readonly stopped: AbortController;
  idleTimer?: NodeJS.Timeout;
};

/** The next chunk of the same video usually arrives at once. */
const IDLE_MS = 30_000;

/** The store's own file if it is a disk, otherwise a copy for all chunks that need it at the same time. */
export const createSharedOriginals = (ctx: CopyContext): SharedOriginals =>
  ctx.store.localFile
    ? {
        open: async (key, signal) => ({
          file: await ctx.worker.findLocalFile(key, { path: '', signal }),
          release: () => {},
        }),
      }
    : createSharedCopies(ctx);

/** A copy is deleted when it was not used for a while. Those of ended processes are deleted elsewhere. */
function createSharedCopies({ worker, log }: CopyContext): SharedOriginals {
  const copies = new Map<ObjectKey, Copy>();
  const openCopy = (key: ObjectKey): Copy => {
    const stopped = new AbortController();
    const folder = createScratchFolder(worker.scratchRoot, { work: `original-${randomUUID()}`, run: '1' });
    const file = folder.then((path) =>
      worker.findLocalFile(key, { path: `${path}/original`, signal: stopped.signal }),
    );
    // Each user awaits it; it may fail after the last one has gone.
    file.catch(() => {});
    const copy = { users: 0, folder, file, stopped };
    copies.set(key, copy);
    return copy;
  };
  const closeCopy = (key: ObjectKey, copy: Copy): void => {
    if (copies.get(key) === copy) copies.delete(key);
    copy.stopped.abort();
    copy.folder
      .then(deleteScratchFolder)
      .catch((error: unknown) => log.warn({ err: error }, 'the copy of an original cannot be deleted'));
  };
  return {
    async open(key, signal) {
      const copy = copies.get(key) ?? openCopy(key);
      copy.users += 1;
      clearTimeout(copy.idleTimer);
      const release = (isUsable: boolean) => {
        copy.users -= 1;
        if (copy.users > 0) return;
        if (!isUsable) return closeCopy(key, copy);
        copy.idleTimer = setTimeout(() => closeCopy(key, copy), IDLE_MS);
        copy.idleTimer.unref();
      };
      try {
        // Another chunk may still need what this one waits for.
        const file = await untilAborted(copy.file, signal);
        return { file, release: () => release(true) };
      } catch (error) {
        release(false);
        throw error;
      }
    },
  };
}
