// Starts and finishes encoder runs. A superseded run can neither publish nor report.
import type { Asset } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import { type ObjectKey, originalKey, renditionFolder } from '../../storage/object-key.ts';
import type { EncodingContext } from '../context.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { deleteRun, findCurrentRun } from './encode-runs.sql.ts';

/** One worker's run of an attempt. `posterTimeMs`: the requested poster, besides the default thumbnail. */
export type Run = {
  readonly assetId: string;
  readonly attempt: number;
  readonly run: number;
  /** Earlier runs of the attempt that crashed. */
  readonly crashes: number;
  readonly mimeType: string;
  readonly originalKey: ObjectKey;
  readonly posterTimeMs: number | null;
  /** Differs between the workers of the run; 0 for the first phase. */
  readonly claim: number;
};

/** Undefined when the attempt no longer needs an encode. */
export async function beginRun(
  { lifecycle, worker }: EncodingContext,
  { assetId, attempt }: { assetId: string; attempt: number },
): Promise<Run | undefined> {
  const begun = await lifecycle.assetStore.claimEncode({ assetId, attempt, worker: worker.name });
  return (
    begun && {
      assetId,
      attempt,
      run: begun.encode_run,
      crashes: begun.encode_run - 1 - begun.encode_interruptions,
      mimeType: begun.mime_type,
      originalKey: originalKey({ id: assetId, original_upload: begun.original_upload }),
      posterTimeMs: begun.poster_time_ms,
      claim: 0,
    }
  );
}

/** False when the asset was deleted or cancelled, or a later run has started; the run must stop. */
export const isCurrentRun = async (
  { db }: EncodingContext,
  run: Pick<Run, 'assetId' | 'attempt' | 'run'>,
): Promise<boolean> => (await findCurrentRun(db, run)) !== undefined;

/** Removes the run's worker after success or failure. */
export const endRun = async ({ db }: EncodingContext, run: Run): Promise<void> => {
  await deleteRun(db, run);
};

/** Enqueues the deletion of the files of a run that may not publish. */
export const discardRun = (
  { db, jobs }: EncodingContext,
  run: Pick<Run, 'assetId' | 'attempt' | 'run'>,
): Promise<void> =>
  db.transaction((tx) =>
    jobs.send(tx, 'remove-run-files', {
      assetId: run.assetId,
      folder: renditionFolder(run.attempt, run.run),
    }),
  );

type RunEnd = {
  readonly report: EncoderReport;
  /** Folders of earlier runs that have published a part of the video. */
  readonly earlier: readonly string[];
  /** When no worker stores a chunk of the run any more. */
  readonly removeAfter?: Date | undefined;
};

/**
 * Publishes the run's files and enqueues its final report and a new poster request. Returns false if a later
 * run exists. The report has its own job, so a failed delivery does not encode again.
 */
export async function finishRun(
  { lifecycle }: EncodingContext,
  run: Run,
  { report, earlier, removeAfter }: RunEnd,
): Promise<boolean> {
  const { assetId } = run;
  const unused = report.status === 'failed' ? [...earlier, renditionFolder(run.attempt, run.run)] : earlier;
  const updated = await lifecycle.update({ assetId }, (seen) =>
    isUnfinished(seen, run) && seen.stream_status === 'processing' && seen.deleted_at === null
      ? {
          set: { encoded_run: run.run },
          events: [],
          jobs: [
            ...(seen.poster_time_ms === run.posterTimeMs
              ? []
              : [{ name: 'make-poster', payload: { assetId } } as const]),
            ...unused.map((folder) => removalOf({ assetId, folder }, removeAfter)),
            { name: 'deliver-report', payload: { assetId, body: JSON.stringify(report) } },
            ...(report.status === 'ready' ? [extrasJob(run)] : []),
          ],
        }
      : undefined,
  );
  return updated?.decision !== undefined;
}

const removalOf = (payload: JobPayloads['remove-run-files'], startAfter: Date | undefined) =>
  ({ name: 'remove-run-files', payload, ...(startAfter && { startAfter }) }) as const;

/** An interruption by a stopping process, a full disk or an unavailable store does not count as a crash. */
export async function releaseRun({ lifecycle }: EncodingContext, run: Run): Promise<void> {
  await lifecycle.update({ assetId: run.assetId }, (seen) =>
    isUnfinished(seen, run)
      ? { set: { encode_interruptions: seen.encode_interruptions + 1 }, events: [], jobs: [] }
      : undefined,
  );
}

/** Waits for the report, which publishes the run's folder. */
const extrasJob = ({ assetId, attempt, run: number }: Run) =>
  ({ name: 'make-extras', payload: { assetId, folder: renditionFolder(attempt, number) } }) as const;

const isUnfinished = (seen: Asset, run: Run): boolean =>
  seen.attempt === run.attempt && seen.encode_run === run.run && seen.encoded_run === 0;
