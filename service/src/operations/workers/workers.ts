// The processes of the installation, as operators see them (contract B9).
import type { WorkerProcess } from '@mediary/contract/schemas/admin/workers';
import { createCursor, readCursor } from '../../auth/list-cursor.ts';
import { notFound } from '../../platform/http/errors.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import type { OperationsContext } from '../context.ts';

type PageQuery = { readonly limit: number; readonly cursor?: string };

export async function listWorkers(
  { providers, urlSecrets }: OperationsContext,
  { limit, cursor }: PageQuery,
): Promise<{ items: WorkerProcess[]; next_cursor: string | null }> {
  const scope = { list: 'workers' };
  const afterId = cursor === undefined ? undefined : readCursor(urlSecrets, scope, cursor);
  const rows = await providers.listProcesses({ limit: limit + 1, afterId });
  const items = rows.slice(0, limit).map(toView);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, next_cursor: last ? createCursor(urlSecrets, scope, last.id) : null };
}

type ProcessRow = Awaited<ReturnType<OperationsContext['providers']['listProcesses']>>[number];

/** As `startHeartbeat` stored it. */
type StoredJob = {
  readonly id: string;
  readonly queue: string;
  readonly startedAt: string;
  readonly assetId?: string;
};

const toView = (row: ProcessRow): WorkerProcess => ({
  id: row.id,
  host: row.host,
  roles: row.roles,
  version: row.version,
  state: row.state as WorkerProcess['state'],
  started_at: row.started_at.toISOString(),
  last_seen_at: row.seen_at.toISOString(),
  stopped_at: row.stopped_at?.toISOString() ?? null,
  running_jobs: (row.running_jobs as StoredJob[]).map(({ id, queue, startedAt, assetId }) => ({
    id,
    queue,
    asset_id: assetId ?? null,
    started_at: startedAt,
  })),
  providers: row.providers,
  video_encoder: row.video_encoder,
  scratch_free_bytes: row.scratch_free_bytes,
  clock_skew_ms: row.clock_skew_ms,
  sandbox: row.protections as WorkerProcess['sandbox'],
});

/** Idempotent. Throws NOT_FOUND. */
export async function drainWorker(
  { providers, log }: OperationsContext,
  id: string,
): Promise<{ id: string; draining: true }> {
  if (!isUuid(id) || !(await providers.drainWorker(id)))
    throw notFound('No live process that runs jobs has this id');
  log.info({ worker: id }, 'an operator drains a worker');
  return { id, draining: true };
}
