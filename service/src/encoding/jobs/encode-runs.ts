// Begins and ends the encoder's runs: a run that was overtaken can neither publish nor report.
import type { ServiceJobs } from '../../jobs.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { type ObjectKey, originalKey, renditionFolder } from '../../storage/object-key.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { claimRun, deleteRun, findCurrentRun, markEncoded, uncountRun } from './encode-runs.sql.ts';

export type EncodingNeeds = {
  readonly db: Database;
  readonly jobs: ServiceJobs;
  /** Names this process to operators. */
  readonly workerName: string;
};

/** One worker's run at one attempt. `posterTimeMs`: of which time a picture is wanted, beside the thumbnail that we choose. */
export type Run = {
  readonly assetId: string;
  readonly attempt: number;
  readonly try: number;
  readonly mimeType: string;
  readonly originalKey: ObjectKey;
  readonly posterTimeMs: number | null;
};

/** undefined: there is nothing to encode any more. */
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

/** False once the asset is deleted or cancelled, or a later run began: the run is to be stopped. */
export const isCurrent = async ({ db }: EncodingNeeds, run: Run): Promise<boolean> =>
  (await findCurrentRun(db, run)) !== undefined;

/** The worker is done with the run, in whatever way. */
export const end = async ({ db }: EncodingNeeds, run: Run): Promise<void> => {
  await deleteRun(db, run);
};

/** Has the files of a run that may not publish them removed. */
export const discard = ({ db, jobs }: EncodingNeeds, run: Run): Promise<void> =>
  db.transaction((tx) =>
    jobs.send(tx, 'remove-run-files', {
      assetId: run.assetId,
      folder: renditionFolder(run.attempt, run.try),
    }),
  );

/** Hands the final report to a job of its own, so that it can be delivered again without encoding again, and a poster that was wished for meanwhile to another; false where the run was overtaken. */
export const finishRun = ({ db, jobs }: EncodingNeeds, run: Run, report: EncoderReport): Promise<boolean> =>
  db.transaction(async (tx) => {
    const marked = await markEncoded(tx, run);
    if (!marked) return false;
    if (marked.poster_time_ms !== run.posterTimeMs)
      await jobs.send(tx, 'make-poster', { assetId: run.assetId });
    await jobs.send(tx, 'deliver-report', { assetId: run.assetId, body: JSON.stringify(report) });
    return true;
  });

/** A run that ended because its process was told to stop is no failure, however often that happens. */
export const handRunBack = async ({ db }: EncodingNeeds, run: Run): Promise<void> => {
  await uncountRun(db, run);
};
