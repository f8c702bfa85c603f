// Job that ends an import to a hosted provider: sends the stored bytes to an upload there, and continues one
// that an earlier run began.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asset, Failure } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { Bound } from '../../platform/bind.ts';
import { watchHeldSlot } from '../../platform/concurrency/held-work.ts';
import type { SlotRun } from '../../platform/jobs/job-queue.ts';
import { ProviderError } from '../../providers/provider.ts';
import type { findMaxDuration, openFileUpload } from '../../providers/sized-uploads.ts';
import { originalKey } from '../../storage/object-key.ts';
import { toProviderFailure, TRANSFER_FAILED, VIDEO_TOO_LONG } from './import-failure.ts';
import type * as runOperations from './import-runs.ts';
import type { ImportRun } from './import-runs.ts';
import { whileCurrent } from './run-watch.ts';
import type * as byteOperations from './transfer-bytes.ts';
import type { StoredFile, Transfer, TusOutcome } from './transfer-bytes.ts';
import type * as transferOperations from './transfer-import.ts';
import { toMaxSeconds } from '../upload-request.ts';

export type TransferJobNeeds = {
  readonly beginRun: Bound<typeof runOperations.beginRun>;
  readonly isCurrentRun: Bound<typeof runOperations.isCurrentRun>;
  readonly createProgressRecorder: Bound<typeof runOperations.createProgressRecorder>;
  readonly failImport: Bound<typeof runOperations.failImport>;
  readonly deferRun: Bound<typeof runOperations.deferRun>;
  readonly recordOpenTransfer: Bound<typeof transferOperations.recordOpenTransfer>;
  readonly recordTransferFailure: Bound<typeof transferOperations.recordTransferFailure>;
  readonly completeTransfer: Bound<typeof transferOperations.completeTransfer>;
  readonly releaseOriginal: Bound<typeof transferOperations.releaseOriginal>;
  readonly openFileUpload: Bound<typeof openFileUpload>;
  readonly findMaxDuration: Bound<typeof findMaxDuration>;
  readonly openTusUpload: Bound<typeof byteOperations.openTusUpload>;
  readonly sendByTus: Bound<typeof byteOperations.sendByTus>;
  readonly sendWhole: Bound<typeof byteOperations.sendWhole>;
  readonly importTimeoutSeconds: number;
  readonly log: { warn(facts: object, message: string): void };
};

/** Limit of all runs of the attempt, those of the download included; the queue allows more. */
const MAX_RUNS = 20;

/** A transfer keeps its slot for this time although another owner waits, and then until its chunk ends. */
const KEPT_MS = 5000;

type Outcome = TusOutcome | 'over' | { readonly failure: Failure };
type TransferJobRun = Pick<SlotRun<JobPayloads['transfer-import']>, 'signal' | 'slot'>;

export const transferImportJob =
  (needs: TransferJobNeeds) =>
  async ({ payload, signal, slot }: SlotRun<JobPayloads['transfer-import']>): Promise<void> => {
    const run = await needs.beginRun(payload);
    const outcome = run?.asset.uploaded_at ? await execute(needs, run, { signal, slot }) : 'over';
    if (!run || outcome === 'over') return void (await needs.releaseOriginal(payload));
    // The chunks are progress: neither the run nor its time counts.
    if (outcome === 'yielded') return needs.deferRun(run, { slot, heldMs: 0, hasProgress: true });
    if (outcome === 'sent') return void (await needs.completeTransfer(run));
    const { id, attempt } = run.asset;
    needs.log.warn({ asset_id: id, attempt, code: outcome.failure.code }, 'an import failed');
    await needs.failImport(run, outcome.failure);
  };

async function execute(
  needs: TransferJobNeeds,
  run: ImportRun,
  { signal, slot }: TransferJobRun,
): Promise<Outcome> {
  const maxSeconds = needs.findMaxDuration(run.asset);
  if (maxSeconds !== undefined && (run.asset.duration_ms ?? 0) > maxSeconds * 1000)
    return { failure: VIDEO_TOO_LONG };
  if (run.runs > MAX_RUNS) return { failure: TRANSFER_FAILED };
  const held = watchHeldSlot({
    isWanted: slot.isWanted,
    mayKeep: (heldMs) => heldMs < KEPT_MS,
    onError: (err) => needs.log.warn({ asset_id: run.asset.id, err }, 'the queue of transfers is not known'),
  });
  try {
    const work = (signal: AbortSignal) => send(needs, run, { signal, isDue: () => held.signal.aborted });
    const outcome = await whileCurrent(needs, { run, signal, work });
    return outcome === 'timeout' ? { failure: TRANSFER_FAILED } : outcome;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (run.runs < MAX_RUNS && isTransient(error)) {
      await needs.recordTransferFailure(run, error);
      throw error;
    }
    return { failure: toProviderFailure(error.failure) };
  } finally {
    held.close();
  }
}

/** A lost upload is opened again. A provider without storage is not asked again. */
const isTransient = ({ failure: { code, retryable } }: ProviderError): boolean =>
  code === 'provider_video_missing' || (retryable && code !== 'provider_quota');

async function send(
  needs: TransferJobNeeds,
  run: ImportRun,
  { signal, isDue }: Pick<Transfer, 'signal' | 'isDue'>,
): Promise<Exclude<Outcome, object>> {
  const file = toFile(run.asset);
  const transfer: Transfer = {
    file,
    signal,
    isDue,
    wait: (ms) => wait(ms, undefined, { signal }),
    onSent: reportProgress(needs, run, file),
  };
  const continued = await continueUpload(needs, run, transfer);
  if (continued) return continued;
  const { duration_ms: duration } = run.asset;
  const maxDurationSeconds = duration === null ? null : toMaxSeconds(duration / 1000);
  const opened = await needs.openFileUpload(run.asset, { sizeBytes: file.sizeBytes, maxDurationSeconds });
  if (opened === 'stored') return 'sent';
  if (opened === 'over') return 'over';
  const { videoId, target } = opened;
  if (target.protocol === 'tus') {
    const upload = await needs.openTusUpload(transfer, target);
    await needs.recordOpenTransfer(run, { videoId, upload });
    return needs.sendByTus(transfer, upload);
  }
  await needs.sendWhole(transfer, target);
  return 'sent';
}

function toFile(asset: Asset): StoredFile {
  const { provider, size_bytes: sizeBytes, filename, mime_type: mimeType } = asset;
  if (provider === null || sizeBytes === null) throw new Error('the asset has no provider or no bytes');
  return { provider, key: originalKey(asset), sizeBytes, filename, mimeType };
}

/** Undefined if there is no upload of an earlier run, or the provider does not continue it. */
async function continueUpload(
  needs: TransferJobNeeds,
  { asset, transfer: open }: ImportRun,
  transfer: Transfer,
): Promise<TusOutcome | undefined> {
  if (!open || open.videoId !== asset.provider_video_id) return undefined;
  try {
    return await needs.sendByTus(transfer, open.upload);
  } catch (error) {
    if (error instanceof ProviderError && !error.failure.retryable) return undefined;
    throw error;
  }
}

/** The download has counted each byte once already. */
function reportProgress(needs: TransferJobNeeds, run: ImportRun, { sizeBytes }: StoredFile) {
  const recordProgress = needs.createProgressRecorder(run, sizeBytes);
  return (sent: number): Promise<void> =>
    recordProgress({ bytes: sizeBytes + sent, totalBytes: 2 * sizeBytes, step: 'transfer' });
}
