// Lists and cancels encodes for operators.
import { isCancelled } from '../../lifecycle/decisions/cancellation.ts';
import type { JobPayloads, ServiceJobs } from '../../jobs.ts';
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts';
import type { OpenJob } from '../../platform/jobs/job-order.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import type { EncodingContext } from '../context.ts';
import { ENCODE_JOBS, type EncodeJobName, isRestJob } from '../encode-jobs.ts';
import { findEncodes } from './encode-runs.sql.ts';

type QueuedEncode = {
  readonly asset_id: string;
  readonly owner_user_id: string;
  readonly filename: string;
  readonly duration_ms: number | null;
  readonly attempt: number;
  /** A run that waits for a turn of its chunks is waiting. */
  readonly state: 'running' | 'waiting';
  /** `first`: what makes the video playable. */
  readonly phase: 'first' | 'rest';
  /** 1 is the next encode; null when it is running. */
  readonly position: number | null;
  readonly queued_at: string;
  readonly started_at: string | null;
  readonly progress: number;
  readonly worker: string | null;
};

type EncodeQueue = {
  readonly running: number;
  readonly waiting: number;
  readonly items: readonly QueuedEncode[];
  readonly next_cursor: string | null;
};

type EncodeFilter = {
  readonly ownerUserId?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
};

/**
 * Running encodes first, then waiting ones in the order of execution, as far as queues with slots of their
 * own have one. The counts include all owners.
 */
export async function listEncodes(
  { db, jobs }: EncodingContext,
  { ownerUserId, limit, cursor }: EncodeFilter,
): Promise<EncodeQueue> {
  const all = toQueue(await findOpenEncodes(db, jobs));
  const running = all.filter(({ state }) => state === 'running').length;
  const items = all.filter((encode) => ownerUserId === undefined || encode.owner_user_id === ownerUserId);
  const start = cursor === undefined ? 0 : indexAfter(items, cursor);
  const page = items.slice(start, start + limit);
  const next = start + limit < items.length ? (page.at(-1)?.asset_id ?? null) : null;
  return { running, waiting: all.length - running, items: page, next_cursor: next };
}

/** A cursor is the asset of the last encode on the previous page, whose encode may have ended since. */
function indexAfter(items: readonly QueuedEncode[], cursor: string): number {
  const index = items.findIndex(({ asset_id: id }) => id === cursor);
  if (index >= 0) return index + 1;
  throw badRequest('Invalid cursor: its encode has ended. Read the list from the start.', {
    field: 'cursor',
    reason: 'invalid_cursor',
  });
}

type EncodeJob = OpenJob<JobPayloads['encode-asset']> & { readonly queue: EncodeJobName };

async function listEncodeJobs(jobs: ServiceJobs): Promise<readonly EncodeJob[]> {
  const open = await Promise.all(
    ENCODE_JOBS.map(
      async (queue): Promise<EncodeJob[]> => (await jobs.listOpen(queue)).map((job) => ({ ...job, queue })),
    ),
  );
  const found = await withRunningChunks(jobs, open.flat());
  return [...found.filter(({ isRunning }) => isRunning), ...found.filter(({ isRunning }) => !isRunning)];
}

/** The run of a divided video only waits for its chunks: it runs while one of them does. */
async function withRunningChunks(
  jobs: ServiceJobs,
  encodes: readonly EncodeJob[],
): Promise<readonly EncodeJob[]> {
  const chunks = await jobs.listOpen('encode-chunk');
  const running = new Set(chunks.filter(({ isRunning }) => isRunning).map(({ payload }) => payload.assetId));
  const waiting = new Set(chunks.map(({ payload }) => payload.assetId).filter((id) => !running.has(id)));
  return encodes.map((job) => ({ ...job, isRunning: job.isRunning && !waiting.has(job.payload.assetId) }));
}

type OpenEncodeJob = { readonly job: EncodeJob; readonly asset: Row };

/** Omits jobs of deleted and cancelled assets, which end without work, and further jobs of an asset. */
export async function findOpenEncodes(db: Database, jobs: ServiceJobs): Promise<readonly OpenEncodeJob[]> {
  const open = await listEncodeJobs(jobs);
  const rows = await findEncodes(
    db,
    open.map(({ payload }) => payload.assetId),
  );
  const wanted = new Map(rows.map((row) => [row.id, row]));
  return open.flatMap((job) => {
    const asset = wanted.get(job.payload.assetId);
    if (asset?.attempt !== job.payload.attempt) return [];
    wanted.delete(asset.id);
    return [{ job, asset }];
  });
}

function toQueue(open: readonly OpenEncodeJob[]): QueuedEncode[] {
  let position = 0;
  return open.map(({ job, asset }) => viewOf(job, asset, job.isRunning ? null : ++position));
}

type Row = Awaited<ReturnType<typeof findEncodes>>[number];

const viewOf = (
  { isRunning, queue, createdAt, startedAt }: EncodeJob,
  asset: Row,
  position: number | null,
): QueuedEncode => ({
  asset_id: asset.id,
  owner_user_id: asset.owner_user_id,
  filename: asset.filename,
  duration_ms: asset.duration_ms,
  attempt: asset.attempt,
  state: isRunning ? 'running' : 'waiting',
  phase: isRestJob(queue) ? 'rest' : 'first',
  position,
  queued_at: createdAt.toISOString(),
  started_at: isRunning ? ((asset.run_started_at ?? startedAt)?.toISOString() ?? null) : null,
  progress: asset.progress,
  worker: isRunning ? asset.worker : null,
});

type CancelledEncode = { readonly asset_id: string; readonly cancelled: true };

/** Idempotent. The worker stops within two seconds. */
export async function cancelEncode(
  { lifecycle }: EncodingContext,
  assetId: string,
): Promise<CancelledEncode> {
  const asset = isUuid(assetId) ? await lifecycle.findAssetById(assetId) : undefined;
  if (!asset || asset.deleted_at) throw notFound('No such asset');
  const now = await lifecycle.cancelEncoding(asset);
  if (!isCancelled(now))
    throw conflict(
      `The asset is not being encoded: stream_status is "${now.stream_status}". ` +
        'Only an encode that GET /api/v1/admin/encodes lists can be cancelled.',
      { reason: 'not_encoding', stream_status: now.stream_status },
    );
  return { asset_id: asset.id, cancelled: true };
}
