// Playable encodes that wait for their other renditions: which worker continues them, and in which queue.
import { originalKey } from '../../storage/object-key.ts';
import type { EncodingContext } from '../context.ts';
import type { EncodeCheckpoint } from '../encoder.ts';
import { chooseRestJob, REST_JOBS } from '../encode-jobs.ts';
import { findUsedRun } from './encode-chunks.sql.ts';
import * as queries from './encode-checkpoints.sql.ts';
import type { Run } from './encode-runs.ts';

type RunRef = Pick<Run, 'assetId' | 'attempt' | 'run'>;
type AttemptRef = Pick<Run, 'assetId' | 'attempt'>;

/** A run that this worker continues. */
export type ContinuedRun = Run & { readonly checkpoint: EncodeCheckpoint };

/** Enqueues the rest of a run. False when the run may no longer publish. */
export const saveCheckpoint = ({ db, jobs }: EncodingContext, run: RunRef, checkpoint: EncodeCheckpoint) =>
  db.transaction(async (tx): Promise<boolean> => {
    const saved = await queries.saveCheckpoint(tx, run, JSON.stringify(checkpoint));
    if (!saved) return false;
    const { assetId, attempt, run: number } = run;
    const payload = { assetId, attempt, run: number };
    await jobs.sendFor(tx, saved.owner_user_id, { name: chooseRestJob(checkpoint), payload });
    return true;
  });

/** Undefined when nobody can continue the run. */
export async function claimCheckpoint(
  { db, worker }: EncodingContext,
  { assetId, attempt, run: number }: RunRef,
): Promise<ContinuedRun | undefined> {
  const claimed = await queries.claimCheckpoint(db, { assetId, attempt, run: number }, worker.name);
  return (
    claimed && {
      assetId,
      attempt,
      run: number,
      claim: claimed.claims,
      crashes: claimed.crashes + claimed.claims - 1 - claimed.interruptions,
      mimeType: claimed.mime_type,
      originalKey: originalKey({ id: assetId, original_upload: claimed.original_upload }),
      posterTimeMs: claimed.poster_time_ms,
      checkpoint: JSON.parse(claimed.checkpoint) as EncodeCheckpoint,
    }
  );
}

/** False when the asset was deleted or cancelled, or another worker continues the run. */
export const isCurrentClaim = async ({ db }: EncodingContext, run: ContinuedRun): Promise<boolean> =>
  (await queries.findCurrentClaim(db, run)) !== undefined;

/** From here on, another worker would encode the video again. False when one continues the run already. */
export const startStoring = async ({ db }: EncodingContext, run: ContinuedRun): Promise<boolean> =>
  (await queries.startStoring(db, run)) !== undefined;

export const recordInterruption = async ({ db }: EncodingContext, run: ContinuedRun): Promise<void> => {
  await queries.recordInterruption(db, run);
};

export const deleteCheckpoint = async ({ db }: EncodingContext, run: RunRef): Promise<void> => {
  await queries.deleteCheckpoint(db, run);
};

/** Whether files of the run may be needed: it may still publish them, or has done so. */
export const isRunUsed = async ({ db }: EncodingContext, run: RunRef): Promise<boolean> =>
  (await findUsedRun(db, run)) !== undefined;

/** Encodes the video again, because its last worker ended while it stored the files of the run. */
export const restartEncode = ({ db, jobs, lifecycle }: EncodingContext, run: RunRef) =>
  db.transaction(async (tx): Promise<void> => {
    const { assetId, attempt } = run;
    const asset = await lifecycle.findAssetById(assetId);
    if (!asset || !(await queries.deleteCheckpoint(tx, run))) return;
    await jobs.sendFor(tx, asset.owner_user_id, { name: 'encode-asset', payload: { assetId, attempt } });
  });

/** Whether a job waits or runs that continues a run of this attempt. */
export async function isContinued(
  { db, jobs }: EncodingContext,
  { assetId, attempt }: AttemptRef,
): Promise<boolean> {
  const found = await queries.findCheckpoint(db, assetId, attempt);
  if (!found) return false;
  const open = REST_JOBS.map((name) => jobs.hasOpenJob(name, { assetId, attempt, run: found.run }));
  return (await Promise.all(open)).includes(true);
}

/** The queue of short videos never waits for a long one. */
export async function moveToLong({ db, jobs, lifecycle }: EncodingContext, run: AttemptRef): Promise<void> {
  const { assetId, attempt } = run;
  const asset = await lifecycle.findAssetById(assetId);
  if (!asset) return;
  await db.transaction((tx) =>
    jobs.sendFor(tx, asset.owner_user_id, { name: 'encode-long', payload: { assetId, attempt } }),
  );
}
