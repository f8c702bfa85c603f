// Begins and ends the encoder's runs: a run that was overtaken can neither publish nor report.
import type { Asset } from '../../assets/asset.ts';
import type { ServiceJobs } from '../../jobs.ts';
import type { AssetStore } from '../../lifecycle/store.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { type ObjectKey, originalKey, renditionFolder } from '../../storage/object-key.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { deleteRun, findCurrentRun } from './encode-runs.sql.ts';

export type EncodingNeeds = {
  readonly db: Database;
  readonly jobs: ServiceJobs;
  readonly assetStore: Pick<AssetStore, 'update' | 'claimEncode'>;
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
  { assetStore, workerName }: EncodingNeeds,
  { assetId, attempt }: { assetId: string; attempt: number },
): Promise<Run | undefined> {
  const begun = await assetStore.claimEncode({ assetId, attempt, worker: workerName });
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

/** Marks the run's files as complete and hands its report to a job, so that the report can be delivered again without encoding again; false where a later run began or the asset is gone. A poster that was requested meanwhile gets a job too. */
export async function finishRun(
  { assetStore }: EncodingNeeds,
  run: Run,
  report: EncoderReport,
): Promise<boolean> {
  const { assetId } = run;
  const updated = await assetStore.update({ assetId }, (seen) =>
    isUnfinished(seen, run) && seen.stream_status === 'processing' && seen.deleted_at === null
      ? {
          set: { encoded_try: run.try },
          events: [],
          jobs: [
            ...(seen.poster_time_ms === run.posterTimeMs
              ? []
              : [{ name: 'make-poster', payload: { assetId } } as const]),
            { name: 'deliver-report', payload: { assetId, body: JSON.stringify(report) } },
          ],
        }
      : undefined,
  );
  return updated?.decision !== undefined;
}

/** Takes a run that was handed back out of the count: a process that was told to stop is no failure. Nothing where a later run began. */
export async function handRunBack({ assetStore }: EncodingNeeds, run: Run): Promise<void> {
  await assetStore.update({ assetId: run.assetId }, (seen) =>
    isUnfinished(seen, run) ? { set: { encode_try: run.try - 1 }, events: [], jobs: [] } : undefined,
  );
}

const isUnfinished = (seen: Asset, run: Run): boolean =>
  seen.attempt === run.attempt && seen.encode_try === run.try && seen.encoded_try === 0;
