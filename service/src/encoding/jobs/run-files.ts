// The files of a run: published while it goes on, stored at its end, removed when it is replaced.
import { renditionFolder, renditionKey, renditionPrefix } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { isRefusal } from '../../storage/whole-objects.ts';
import type { EncodedFile, EncodedSource, PlayablePart } from '../encoder.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { isUnavailable } from '../../platform/http/errors.ts';
import { isScratchFull } from '../../platform/disk/free-space.ts';
import type { EncodingContext } from '../context.ts';
import { deleteChunks } from './encode-chunks.ts';
import { discardRun, type Run } from './encode-runs.ts';
import { deleteGrowingIndexes, findPublishedFolders, saveGrowingIndex } from './growing-indexes.ts';

const STORE_CONCURRENCY = 4;

/**
 * Returns the function that publishes parts of the run. The first part is announced until the service has
 * accepted it; it needs no retry once the run ends.
 */
export function createPublisher(ctx: EncodingContext, run: Run, signal: AbortSignal) {
  let wasAccepted = false;
  return async (part: PlayablePart): Promise<void> => {
    await storeFiles(ctx.store, run, { files: part.files, signal });
    if (!(await saveGrowingIndex(ctx, run, part.index)) || wasAccepted) return;
    const report: EncoderReport = {
      ...reportHead(run),
      status: 'processing',
      playable: true,
      renditions: part.renditions,
      ...describeSource(part),
    };
    try {
      wasAccepted = (await ctx.callback.deliver(JSON.stringify(report), signal)).processed;
    } catch (error) {
      if (signal.aborted) throw error;
      ctx.log.warn({ asset_id: run.assetId, err: error }, 'the first segments could not be reported');
    }
  };
}

type RunRef = Pick<Run, 'assetId' | 'attempt' | 'run'>;

type StoredFiles = {
  readonly files: readonly EncodedFile[];
  readonly signal: AbortSignal;
  /** Called for a file whose name is in use; absent: the run fails. */
  readonly onExisting?: (file: EncodedFile) => Promise<void>;
};

/** Rejects only when no file is being stored any more, so that the files of a run can be removed then. */
export async function storeFiles(
  store: ObjectStore,
  run: RunRef,
  { files, signal, onExisting }: StoredFiles,
): Promise<void> {
  const folder = renditionFolder(run.attempt, run.run);
  const remaining = files.values();
  const storeNext = async () => {
    for (const file of remaining) {
      signal.throwIfAborted();
      try {
        await store.putFile(renditionKey(run.assetId, folder, file.name), file.path);
      } catch (error) {
        if (!onExisting || !isRefusal(error, 'exists')) throw error;
        await onExisting(file);
      }
    }
  };
  const stored = await Promise.allSettled(Array.from({ length: STORE_CONCURRENCY }, storeNext));
  for (const result of stored) if (result.status === 'rejected') throw result.reason;
}

/** Whether a disk was full or a store unavailable: no failure of the video or the encoder. */
export const isInterruption = (error: unknown): boolean =>
  isUnavailable(error) || isScratchFull(error) || isRefusal(error, 'full');

/** Deletes the rows of chunks first, so that workers that still store chunks discard them. */
export async function discard(ctx: EncodingContext, run: RunRef): Promise<void> {
  await deleteChunks(ctx, run, { keepsRefused: true });
  await deleteGrowingIndexes(ctx, run.assetId, [renditionFolder(run.attempt, run.run)]);
  await discardRun(ctx, run);
}

/** Players may read the published part of a run until the next run publishes its own. */
export async function removeUnpublished(ctx: EncodingContext, run: Run): Promise<void> {
  const published = await findPublishedFolders(ctx, run.assetId);
  if (!published.includes(renditionFolder(run.attempt, run.run))) await ctx.store.removeAll(folderOf(run));
}

/** Returns the folders that players may still read, which stay until this run ends. */
export async function removeEarlierRuns(ctx: EncodingContext, run: Run): Promise<readonly string[]> {
  const published = await findPublishedFolders(ctx, run.assetId);
  for (let earlier = 1; earlier < run.run; earlier++) {
    const isPublished = published.includes(renditionFolder(run.attempt, earlier));
    if (!isPublished) await ctx.store.removeAll(folderOf({ ...run, run: earlier }));
  }
  return published.filter((folder) => folder !== renditionFolder(run.attempt, run.run));
}

/** The members of a report about the original. */
export const describeSource = ({
  container,
  video,
  audio,
  width,
  height,
  durationMs,
  chapters,
}: EncodedSource): Partial<EncoderReport> => ({
  ...(width !== undefined && { width }),
  ...(height !== undefined && { height }),
  duration_ms: durationMs,
  container,
  ...(video && { video }),
  ...(audio.length > 0 && { audio }),
  ...(chapters.length > 0 && { chapters }),
});

const folderOf = (run: Run) => renditionPrefix(run.assetId, renditionFolder(run.attempt, run.run));
export const reportHead = (run: Run) => ({ asset_id: run.assetId, attempt: run.attempt, run: run.run });
