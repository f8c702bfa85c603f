// Decides which progress of an import is recorded as an event: pure (contract B8).
import { awaitsService } from '../byte-rules.ts';
import { newEvent } from '../../assets/asset-event.ts';
import type { Asset } from '../../assets/asset.ts';
import type { AssetChange } from '../../lifecycle/decisions/change.ts';

/**
 * `totalBytes` is undefined if the server does not declare it. `step`: of imports to hosted providers, which
 * move each byte twice: `bytes` and `totalBytes` count both steps, so that the progress does not fall.
 */
export type ImportProgress = {
  readonly bytes: number;
  readonly totalBytes: number | undefined;
  readonly step?: 'download' | 'transfer' | undefined;
};
type Report = { readonly bytes: number; readonly atMs: number };

const MIN_INTERVAL_MS = 2000;
const MIN_SHARE = 0.05;
const MIN_BYTES_OF_UNKNOWN_TOTAL = 64 * 1024 * 1024;

/** Limits an import to about twenty events, and to one in two seconds. */
export function isProgressDue({ bytes, totalBytes }: ImportProgress, last: Report, nowMs: number): boolean {
  const step = totalBytes === undefined ? MIN_BYTES_OF_UNKNOWN_TOTAL : totalBytes * MIN_SHARE;
  return nowMs - last.atMs >= MIN_INTERVAL_MS && bytes - last.bytes >= step;
}

export function decideImportProgress(
  asset: Asset,
  attempt: number,
  { bytes, totalBytes, step }: ImportProgress,
): AssetChange | undefined {
  if (!awaitsService(asset, attempt)) return undefined;
  const data = { attempt, source: 'service', ...(step && { step }), bytes, total_bytes: totalBytes ?? null };
  return { set: {}, events: [newEvent('asset.progress', data)], jobs: [] };
}
