// Job that ends an import to a hosted provider: sends the stored bytes to an upload there, and continues one
// that an earlier run began.
import { setTimeout as wait } from 'node:timers/promises';
import type { Asset, Failure } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import { watchHeldSlot } from '../../platform/concurrency/held-work.ts';
import type { SlotRun } from '../../platform/jobs/job-queue.ts';
import { ProviderError } from '../../providers/provider.ts';
import { originalKey } from '../../storage/object-key.ts';
import type { UploadsContext } from '../context.ts';
import { uncountOutage } from '../service-runs.ts';
import { toMaxSeconds } from '../upload-request.ts';
import { toProviderFailure, TRANSFER_FAILED, VIDEO_TOO_LONG } from './import-failure.ts';
import {
  beginRun,
  createProgressRecorder,
  deferRun,
  failImport,
  type ImportRun,
  uncountRun,
} from './import-runs.ts';
import { whileCurrent } from './run-watch.ts';
import {
  openTusUpload,
  sendByTus,
  sendWhole,
  type StoredFile,
  type Transfer,
  type TusOutcome,
} from './transfer-bytes.ts';
import {
  completeTransfer,
  recordOpenTransfer,
  recordTransferFailure,
  releaseOriginal,
} from './transfer-import.ts';

/** Limit of all runs of the attempt, those of the download included; the queue allows more. */
const MAX_RUNS = 20;

/** A transfer keeps its slot for this time although another owner waits, and then until its chunk ends. */
const KEPT_MS = 5000;

type TransferEnd = TusOutcome | 'over' | { readonly failure: Failure };
type TransferJobRun = Pick<SlotRun<JobPayloads['transfer-import']>, 'signal' | 'slot'>;

export const transferImportJob =
  (ctx: UploadsContext) =>
  async ({ payload, signal, slot }: SlotRun<JobPayloads['transfer-import']>): Promise<void> => {
    const run = await beginRun(ctx, payload);
    const outcome = run?.asset.uploaded_at ? await execute(ctx, run, { signal, slot }) : 'over';
    if (!run || outcome === 'over') return void (await releaseOriginal(ctx, payload));
    // The chunks are progress: neither the run nor its time counts.
    if (outcome === 'yielded') return deferRun(ctx, run, { slot, heldMs: 0, hasProgress: true });
    if (outcome === 'sent') return void (await completeTransfer(ctx, run));
    const { id, attempt } = run.asset;
    ctx.log.warn({ asset_id: id, attempt, code: outcome.failure.code }, 'an import failed');
    await failImport(ctx, run, outcome.failure);
  };

async function execute(
  ctx: UploadsContext,
  run: ImportRun,
  { signal, slot }: TransferJobRun,
): Promise<TransferEnd> {
  const maxSeconds = ctx.providers.findMaxDuration(run.asset);
  if (maxSeconds !== undefined && (run.asset.duration_ms ?? 0) > maxSeconds * 1000)
    return { failure: VIDEO_TOO_LONG };
  if (run.runs > MAX_RUNS) return { failure: TRANSFER_FAILED };
  const held = watchHeldSlot({
    isWanted: slot.isWanted,
    mayKeep: (heldMs) => heldMs < KEPT_MS,
    onError: (err) => ctx.log.warn({ asset_id: run.asset.id, err }, 'the queue of transfers is not known'),
  });
  try {
    const work = (signal: AbortSignal) => send(ctx, run, { signal, isDue: () => held.signal.aborted });
    const outcome = await whileCurrent(ctx, { run, signal, work });
    return outcome === 'timeout' ? { failure: TRANSFER_FAILED } : outcome;
  } catch (error) {
    if (!(error instanceof ProviderError)) {
      await uncountOutage(error, () => uncountRun(ctx, run));
      throw error;
    }
    if (run.runs < MAX_RUNS && isTransient(error)) {
      await recordTransferFailure(ctx, run, error);
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
  ctx: UploadsContext,
  run: ImportRun,
  { signal, isDue }: Pick<Transfer, 'signal' | 'isDue'>,
): Promise<Exclude<TransferEnd, object>> {
  const file = toFile(run.asset);
  const transfer: Transfer = {
    file,
    signal,
    isDue,
    wait: (ms) => wait(ms, undefined, { signal }),
    onSent: reportProgress(ctx, run, file),
  };
  const continued = await continueUpload(ctx, run, transfer);
  if (continued) return continued;
  const { duration_ms: duration } = run.asset;
  const maxDurationSeconds = duration === null ? null : toMaxSeconds(duration / 1000);
  const opened = await ctx.providers.openFileUpload(run.asset, {
    sizeBytes: file.sizeBytes,
    maxDurationSeconds,
  });
  if (opened === 'stored') return 'sent';
  if (opened === 'over') return 'over';
  const { videoId, target } = opened;
  if (target.protocol === 'tus') {
    const upload = await openTusUpload(ctx, transfer, target);
    await recordOpenTransfer(ctx, run, { videoId, upload });
    return sendByTus(ctx, transfer, upload);
  }
  await sendWhole(ctx, transfer, target);
  return 'sent';
}

function toFile(asset: Asset): StoredFile {
  const { provider, size_bytes: sizeBytes, filename, mime_type: mimeType } = asset;
  if (provider === null || sizeBytes === null) throw new Error('the asset has no provider or no bytes');
  return { provider, key: originalKey(asset), sizeBytes, filename, mimeType };
}

/** Undefined if there is no upload of an earlier run, or the provider does not continue it. */
async function continueUpload(
  ctx: UploadsContext,
  { asset, transfer: open }: ImportRun,
  transfer: Transfer,
): Promise<TusOutcome | undefined> {
  if (!open || open.videoId !== asset.provider_video_id) return undefined;
  try {
    return await sendByTus(ctx, transfer, open.upload);
  } catch (error) {
    if (error instanceof ProviderError && !error.failure.retryable) return undefined;
    throw error;
  }
}

/** The download has counted each byte once already. */
function reportProgress(ctx: UploadsContext, run: ImportRun, { sizeBytes }: StoredFile) {
  const recordProgress = createProgressRecorder(ctx, run, sizeBytes);
  return (sent: number): Promise<void> =>
    recordProgress({ bytes: sizeBytes + sent, totalBytes: 2 * sizeBytes, step: 'transfer' });
}
