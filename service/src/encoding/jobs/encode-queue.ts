// Lists and cancels encodes for operators.
import type * as lookupOperations from '../../assets/asset-lookup.ts';
import { isCancelled } from '../../lifecycle/cancellation.ts';
import type * as reportOperations from '../../lifecycle/reports.ts';
import type { JobPayloads, ServiceJobs } from '../../jobs.ts';
import type { BoundOperations } from '../../platform/bind.ts';
import { conflict, notFound } from '../../platform/errors.ts';
import type { OpenJob } from '../../platform/jobs/job-order.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import { findEncodes } from './encode-runs.sql.ts';

type EncodeQueueNeeds = Pick<BoundOperations<typeof lookupOperations>, 'findAssetById'> &
  Pick<BoundOperations<typeof reportOperations>, 'cancelEncoding'> & {
    readonly db: Database;
    readonly jobs: ServiceJobs;
  };

type QueuedEncode = {
  readonly asset_id: string;
  readonly owner_user_id: string;
  readonly filename: string;
  readonly duration_ms: number | null;
  readonly attempt: number;
  readonly state: 'running' | 'waiting';
  /** 1 is the next encode; null when it is running. */
  readonly position: number | null;
  readonly queued_at: string;
  readonly started_at: string | null;
  readonly progress: number;
  readonly worker: string | null;
};

export type EncodeQueue = {
  readonly running: number;
  readonly waiting: number;
  readonly items: readonly QueuedEncode[];
};

type EncodeFilter = { readonly ownerUserId?: string | undefined; readonly limit: number };

/** Running encodes first, then waiting ones in the order of execution. The counts include all owners. */
export async function listEncodes(
  { db, jobs }: EncodeQueueNeeds,
  { ownerUserId, limit }: EncodeFilter,
): Promise<EncodeQueue> {
  const all = await encodesOf(db, await jobs.listOpen('encode-asset'));
  const running = all.filter(({ state }) => state === 'running').length;
  const items = all.filter((encode) => ownerUserId === undefined || encode.owner_user_id === ownerUserId);
  return { running, waiting: all.length - running, items: items.slice(0, limit) };
}

type EncodeJob = OpenJob<JobPayloads['encode-asset']>;

/** Omits jobs of deleted and cancelled assets, which end without work. */
async function encodesOf(db: Database, open: readonly EncodeJob[]): Promise<QueuedEncode[]> {
  const rows = await findEncodes(
    db,
    open.map(({ payload }) => payload.assetId),
  );
  const wanted = new Map(rows.map((row) => [row.id, row]));
  let position = 0;
  return open.flatMap((job) => {
    const asset = wanted.get(job.payload.assetId);
    if (asset?.attempt !== job.payload.attempt) return [];
    return [viewOf(job, asset, job.isRunning ? null : ++position)];
  });
}

type Row = Awaited<ReturnType<typeof findEncodes>>[number];

const viewOf = (
  { isRunning, createdAt, startedAt }: EncodeJob,
  asset: Row,
  position: number | null,
): QueuedEncode => ({
  asset_id: asset.id,
  owner_user_id: asset.owner_user_id,
  filename: asset.filename,
  duration_ms: asset.duration_ms,
  attempt: asset.attempt,
  state: isRunning ? 'running' : 'waiting',
  position,
  queued_at: createdAt.toISOString(),
  started_at: isRunning ? ((asset.run_started_at ?? startedAt)?.toISOString() ?? null) : null,
  progress: asset.progress,
  worker: isRunning ? asset.worker : null,
});

export type CancelledEncode = { readonly asset_id: string; readonly cancelled: true };

/** Idempotent. The worker stops within two seconds. */
export async function cancelEncode(
  { findAssetById, cancelEncoding }: EncodeQueueNeeds,
  assetId: string,
): Promise<CancelledEncode> {
  const asset = isUuid(assetId) ? await findAssetById(assetId) : undefined;
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  const now = await cancelEncoding(asset);
  if (!isCancelled(now))
    throw conflict(
      `The asset is not being encoded: stream_status is "${now.stream_status}". ` +
        'Only an encode that GET /api/v1/admin/encodes lists can be cancelled.',
      { reason: 'not_encoding', stream_status: now.stream_status },
    );
  return { asset_id: asset.id, cancelled: true };
}
