// Keeps the lease of a resumable upload while a request works on it, and releases it when another request
// waits for it.
import { randomUUID } from 'node:crypto';
import type { RowOf } from '../platform/postgres/row.ts';
import type { UploadLease } from '../lifecycle/change.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { inProgress } from './upload-errors.ts';
import {
  claimResumable,
  releaseResumable,
  renewResumable,
  type resumableColumns,
} from './resumable-uploads.sql.ts';

export type ResumableRow = RowOf<typeof resumableColumns>;

type LeaseNeeds = {
  readonly db: Queries;
  /** The leased uploads of this process, by id. */
  readonly leases: Map<string, LeasedUpload>;
};

export type LeasedUpload = {
  readonly lease: UploadLease;
  readonly row: ResumableRow;
  /** Aborted when the lease is lost, or when another request waits for it. */
  readonly signal: AbortSignal;
  readonly stop: () => void;
  readonly release: () => Promise<void>;
};

/**
 * A client that lost its connection comes back before the service notices. The earlier request ends within
 * this time.
 */
const WAIT_MS = 4500;
const CHECK_EVERY_MS = 100;
const RENEW_EVERY_MS = 1000;
/** Shorter than the lease, so that nothing is written after another process could have taken over. */
const MAX_UNRENEWED_MS = 8000;

/** Undefined if the upload does not exist. Throws CONFLICT if another request does not let go of it. */
export async function leaseUpload(
  needs: LeaseNeeds,
  assetId: string,
  upload: string,
): Promise<LeasedUpload | undefined> {
  const lease: UploadLease = { upload, holder: randomUUID() };
  const end = performance.now() + WAIT_MS;
  for (;;) {
    needs.leases.get(upload)?.stop();
    const claimed = await claimResumable(needs.db, assetId, lease);
    if (!claimed) return undefined;
    const { is_claimed: isClaimed, ...row } = claimed;
    if (isClaimed || row.finished_at) return startLease(needs, { lease, row });
    if (performance.now() > end) throw inProgress();
    await new Promise((resolve) => {
      setTimeout(resolve, CHECK_EVERY_MS);
    });
  }
}

/** Renews a lease that was claimed until it is released. */
export function startLease(
  { db, leases }: LeaseNeeds,
  { lease, row }: { readonly lease: UploadLease; readonly row: ResumableRow },
): LeasedUpload {
  const aborter = new AbortController();
  let renewedAt = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - renewedAt > MAX_UNRENEWED_MS) aborter.abort();
    const startedAt = performance.now();
    renewResumable(db, lease).then(
      (renewed) => {
        if (!renewed || renewed.is_release_requested) aborter.abort();
        else renewedAt = startedAt;
      },
      () => undefined,
    );
  }, RENEW_EVERY_MS);
  const leased: LeasedUpload = {
    lease,
    row,
    signal: aborter.signal,
    stop: () => aborter.abort(),
    release: async () => {
      clearInterval(timer);
      if (leases.get(lease.upload) === leased) leases.delete(lease.upload);
      await releaseResumable(db, lease);
    },
  };
  if (row.finished_at) clearInterval(timer);
  else leases.set(lease.upload, leased);
  return leased;
}
