// What an asset is doing, and what happens next, in words.
import type { Asset, TimelineEntry } from '@mediary/client';

/** Users wrote it: quoted, so that it is read as data. */
const quote = (text: string): string => JSON.stringify(text);

export function describeState(asset: Asset): string {
  const { id, kind, filename, deleted_at: deletedAt } = asset;
  const trash = deletedAt === null ? '' : ` It is in the trash since ${deletedAt}.`;
  return `The ${kind} ${id} (file name ${quote(filename)}) ${STATES[asset.stream_status](asset)}${trash}`;
}

const STATES: Readonly<Record<Asset['stream_status'], (asset: Asset) => string>> = {
  pending_upload: () => 'is pending_upload: its bytes are not complete.',
  processing: ({ progress, playable_at: playableAt, kind }) =>
    `is processing: ${progress} %.` +
    (kind === 'image' ? '' : playableAt ? ` It plays since ${playableAt}.` : ' It does not play yet.'),
  ready: ({ ready_at: readyAt, updated_at: updatedAt }) => `is ready since ${readyAt ?? updatedAt}.`,
  failed: ({ failure }) =>
    failure ? `has failed: ${failure.code}. ${quote(failure.message)}` : 'has failed for an unknown reason.',
};

/** A job of the asset, as operators see it. */
export type AssetJob = {
  readonly queue: string;
  readonly state: string;
  readonly runs: number;
  readonly max_runs: number;
  readonly next_run_at: string | null;
  readonly last_error: { readonly code: string; readonly message: string } | null;
};

export function describeJob({ queue, state, runs, max_runs: maxRuns, ...job }: AssetJob, now: Date): string {
  const { next_run_at: nextRunAt, last_error: lastError } = job;
  const isDue = nextRunAt !== null && Date.parse(nextRunAt) <= now.getTime();
  const next =
    nextRunAt === null ? '' : isDue ? ` It is due since ${nextRunAt}.` : ` Next run at ${nextRunAt}.`;
  const error = lastError ? ` Last error: ${lastError.code}: ${quote(lastError.message)}` : '';
  return `Job of the queue ${queue}: ${state}, run ${runs} of ${maxRuns}.${next}${error}`;
}

/** The time that the timeline names last; null where it names none. */
export function findNextCheck(entries: readonly Pick<TimelineEntry, 'details'>[]): string | null {
  const at = entries.findLast(({ details }) => 'next_check_at' in details)?.details['next_check_at'];
  return typeof at === 'string' ? at : null;
}

export function describeNext(asset: Asset, nextCheckAt: string | null, now: Date): string {
  const { stream_status: status, expires_at: expiresAt, deleted_at: deletedAt } = asset;
  const expiry = expiresAt === null ? '' : ` The service deletes the asset at ${expiresAt}.`;
  if (deletedAt !== null)
    return `The trash keeps the asset for some days. It can be restored until then.${expiry}`;
  if (status === 'ready') return `Nothing: the asset is ready.${expiry}`;
  if (status === 'failed') return `${describeRetry(asset)}${expiry}`;
  const wait =
    status === 'pending_upload'
      ? 'The service waits until the upload is sent and completed.'
      : 'The service processes the asset, or waits for its provider.';
  return `${wait}${describeCheck(nextCheckAt, now)}${expiry}`;
}

const describeRetry = ({ failure }: Asset): string =>
  failure?.retryable
    ? 'Nothing by itself. Another attempt can succeed: retry_asset, or "mediary retry". If the bytes were ' +
      'refused, upload a correct file as a new asset.'
    : 'Nothing by itself, and another attempt would fail too: upload a correct file as a new asset.';

function describeCheck(at: string | null, now: Date): string {
  if (at === null) return '';
  return Date.parse(at) < now.getTime()
    ? ` The check of ${at} is due: the reconcile job makes it within about a minute.`
    : ` Next check at ${at}.`;
}
