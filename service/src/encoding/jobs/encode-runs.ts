// Starts and finishes encoder runs. A superseded run can neither publish nor report.
import type { ServiceJobs } from '../../jobs.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { type ObjectKey, originalKey, renditionFolder } from '../../storage/object-key.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { claimRun, deleteRun, findCurrentRun, markEncoded, uncountRun } from './encode-runs.sql.ts';

export type EncodingNeeds = {
  readonly db: Database;
  readonly jobs: ServiceJobs;
  /** Name of this process for operators. */
  readonly workerName: string;
};

/** One worker's run of an attempt. `posterTimeMs`: time of the requested poster, in addition to the default thumbnail. */
export type Run = {
  readonly assetId: string;
  readonly attempt: number;
  readonly try: number;
  readonly mimeType: string;
  readonly originalKey: ObjectKey;
  readonly posterTimeMs: number | null;
};

/** Undefined when the attempt no longer needs an encode. */
export async function beginRun(
  { db, workerName }: EncodingNeeds,
  { assetId, attempt }: { assetId: string; attempt: number },
): Promise<Run | undefined> {
  const begun = await claimRun(db, { assetId, attempt, worker: workerName });
  return (
    begun && {
      assetId,
      attempt,
      try: begun.encode_try,
      mimeType: begun.mime_type,
      originalKey: originalKey({ id: assetId, original_upload: begun.original_upload }),
      posterTimeMs: begun.poster_time_ms,
    }
  );
}

/** False when the asset was deleted or cancelled, or a later run has started; the run must stop. */
export const isCurrent = async ({ db }: EncodingNeeds, run: Run): Promise<boolean> =>
  (await findCurrentRun(db, run)) !== undefined;

/** Removes the run's worker after success or failure. */
export const end = async ({ db }: EncodingNeeds, run: Run): Promise<void> => {
  await deleteRun(db, run);
};

/** Enqueues the deletion of the files of a run that may not publish. */
export const discard = ({ db, jobs }: EncodingNeeds, run: Run): Promise<void> =>
  db.transaction((tx) =>
    jobs.send(tx, 'remove-run-files', {
      assetId: run.assetId,
      folder: renditionFolder(run.attempt, run.try),
    }),
  );

/** Enqueues the delivery of the final report, so that it is retried without encoding again, and a newly requested poster. False when superseded. */
export const finishRun = ({ db, jobs }: EncodingNeeds, run: Run, report: EncoderReport): Promise<boolean> =>
  db.transaction(async (tx) => {
    const marked = await markEncoded(tx, run);
    if (!marked) return false;
    if (marked.poster_time_ms !== run.posterTimeMs)
      await jobs.send(tx, 'make-poster', { assetId: run.assetId });
    await jobs.send(tx, 'deliver-report', { assetId: run.assetId, body: JSON.stringify(report) });
    return true;
  });

/** An interruption by a process shutdown does not count as a run. */
export const handRunBack = async ({ db }: EncodingNeeds, run: Run): Promise<void> => {
  await uncountRun(db, run);
};
