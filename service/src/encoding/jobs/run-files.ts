// The files of a run: published while it goes on, stored at its end, removed when it is replaced.
import { renditionFolder, renditionKey, renditionPrefix } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { isRefusal } from '../../storage/whole-objects.ts';
import type { EncodedFile, EncodedSource, PlayablePart } from '../encoder.ts';
import type { Callback, EncoderReport } from '../encoder-report.ts';
import type { Bound, BoundOperations } from '../../platform/bind.ts';
import { isUnavailable } from '../../platform/errors.ts';
import { isScratchFull } from '../../platform/free-space.ts';
import type { deleteChunks } from './encode-chunks.ts';
import type { discardRun, Run } from './encode-runs.ts';
import type * as growingOperations from './growing-manifests.ts';

export type RunFileNeeds = BoundOperations<typeof growingOperations> & {
  readonly discardRun: Bound<typeof discardRun>;
  readonly deleteChunks: Bound<typeof deleteChunks>;
  readonly store: ObjectStore;
  readonly callback: Callback;
  readonly log: { warn(facts: object, message: string): void };
};

export type Work = {
  readonly scratch: string;
  readonly superseded: AbortController;
  readonly signal: AbortSignal;
  /** Players may read files of this run. */
  isPublished: boolean;
  /** The service has accepted the report on the published part. */
  isAnnounced: boolean;
  /** Other workers may store segments of this run. */
  isDivided: boolean;
};

const STORE_CONCURRENCY = 4;

/** The first part is announced until the service has accepted it; it needs no retry once the run ends. */
export async function publishPart(
  needs: RunFileNeeds,
  run: Run,
  { work, part }: { work: Work; part: PlayablePart },
): Promise<void> {
  const { signal } = work;
  await storeFiles(needs.store, run, { files: part.files, signal });
  if (!(await needs.saveManifests(run, part.manifests)) || work.isAnnounced) return;
  work.isPublished = true;
  const report: EncoderReport = {
    ...reportHead(run),
    status: 'processing',
    playable: true,
    renditions: part.renditions,
    ...describeSource(part),
  };
  try {
    work.isAnnounced = (await needs.callback.deliver(JSON.stringify(report), signal)).processed;
  } catch (error) {
    if (signal.aborted) throw error;
    needs.log.warn({ asset_id: run.assetId, err: error }, 'the first segments could not be reported');
  }
}

type RunRef = Pick<Run, 'assetId' | 'attempt' | 'try'>;

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
  const folder = renditionFolder(run.attempt, run.try);
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
export async function discard(needs: RunFileNeeds, run: RunRef): Promise<void> {
  await needs.deleteChunks(run.assetId, run.attempt);
  await needs.deleteManifests(run.assetId, [renditionFolder(run.attempt, run.try)]);
  await needs.discardRun(run);
}

/** Returns the folders that players may still read, which stay until this run ends. */
export async function removeEarlierRuns(needs: RunFileNeeds, run: Run): Promise<readonly string[]> {
  const published = await needs.findPublishedFolders(run.assetId);
  for (let earlier = 1; earlier < run.try; earlier++) {
    const isPublished = published.includes(renditionFolder(run.attempt, earlier));
    if (!isPublished) await needs.store.removeAll(folderOf({ ...run, try: earlier }));
  }
  return published.filter((folder) => folder !== renditionFolder(run.attempt, run.try));
}

/** The members of a report about the original. */
export const describeSource = ({
  container,
  video,
  audio,
  width,
  height,
  durationMs,
}: EncodedSource): Partial<EncoderReport> => ({
  width,
  height,
  duration_ms: durationMs,
  container,
  video,
  ...(audio.length > 0 && { audio }),
});

export const folderOf = (run: Run) => renditionPrefix(run.assetId, renditionFolder(run.attempt, run.try));
export const reportHead = (run: Run) => ({ asset_id: run.assetId, attempt: run.attempt, try: run.try });
