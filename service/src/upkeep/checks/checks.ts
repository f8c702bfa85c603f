// Storage checks for operators: starts, lists and cancels them, and pages their findings.
import {
  FINDING_KINDS,
  type StartCheckRequest,
  type StorageCheck,
  type StorageFinding,
} from '@mediary/contract/schemas/admin/storage-checks';
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { UpkeepContext } from '../context.ts';
import {
  type CheckOptions,
  type CheckRow,
  endCheck,
  findCheck,
  type FindingRow,
  findSilentChecks,
  insertCheck,
  KEPT_CHECKS,
  listCheckRows,
  listFindingRows,
} from './check.sql.ts';

/** A running check is touched more often. Without an open job, nothing continues a silent one. */
const SILENT_S = 120;
const DAY_S = 86_400;
const NO_COUNTS = {
  objects: 0,
  assets: 0,
  videos: 0,
  findings: 0,
  repaired: 0,
  kinds: {},
  skippedProviders: [],
};

/** Starts the job of a new check. */
export async function startCheck(ctx: UpkeepContext, request: StartCheckRequest): Promise<StorageCheck> {
  await endAbandonedChecks(ctx);
  const check = await ctx.db.transaction(async (tx) => {
    const created = await insert(ctx, tx, request);
    await ctx.jobs.send(tx, 'check-storage', { checkId: created.id });
    return created;
  });
  return toView(check);
}

/** The caller runs it. */
export async function createCheck(ctx: UpkeepContext, request: StartCheckRequest): Promise<StorageCheck> {
  await endAbandonedChecks(ctx);
  return toView(await insert(ctx, ctx.db, request));
}

async function insert(
  { settings, clocks }: UpkeepContext,
  db: Queries,
  { repair = false, delete_unknown = false, checksums = false, orphan_age_s }: StartCheckRequest,
): Promise<CheckRow> {
  const orphanAgeSeconds = orphan_age_s ?? settings.purgeGraceDays * DAY_S;
  const options: CheckOptions = { repair, deleteUnknown: delete_unknown, checksums, orphanAgeSeconds };
  const created_at = await clocks.databaseNow();
  const check = await insertCheck(db, { id: uuidV7(), options, counts: NO_COUNTS, created_at });
  if (check) return check;
  throw conflict('Another storage check has not ended. Wait for its end, or cancel it.', {
    reason: 'check_running',
  });
}

/** Checks whose command was killed, or whose job has no retries left. */
async function endAbandonedChecks({ db, jobs }: UpkeepContext): Promise<void> {
  for (const { id } of await findSilentChecks(db, SILENT_S))
    if (!(await jobs.hasOpenJob('check-storage', { checkId: id })))
      await endCheck(db, { id, status: 'failed', error: 'The process that ran the check ended.' });
}

export const listChecks = async ({ db }: UpkeepContext) => ({
  items: (await listCheckRows(db, KEPT_CHECKS)).map(toView),
  next_cursor: null,
});

export const getCheck = async (ctx: UpkeepContext, id: string): Promise<StorageCheck> =>
  toView(await getRow(ctx, id));

async function getRow({ db }: UpkeepContext, id: string): Promise<CheckRow> {
  const check = isUuid(id) ? await findCheck(db, id) : undefined;
  if (!check) throw notFound('No such check');
  return check;
}

/** A check that has ended stays as it is. */
export async function cancelCheck(ctx: UpkeepContext, id: string): Promise<StorageCheck> {
  const check = await getRow(ctx, id);
  return toView((await endCheck(ctx.db, { id: check.id, status: 'cancelled' })) ?? (await getRow(ctx, id)));
}

type FindingQuery = {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly kind?: string | undefined;
};

export async function listFindings(ctx: UpkeepContext, id: string, { limit, cursor, kind }: FindingQuery) {
  const check = await getRow(ctx, id);
  const filter = { after: readCursor(cursor), limit: limit + 1, kind: kind ?? null };
  const rows = await listFindingRows(ctx.db, check.id, filter);
  const page = rows.slice(0, limit);
  return {
    items: page.map(toFinding),
    next_cursor: rows.length > limit ? String(page.at(-1)?.number) : null,
  };
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw badRequest('Invalid cursor. Send the next_cursor of the previous page.', {
    field: 'cursor',
    reason: 'invalid_cursor',
  });
}

const toView = ({ id, status, stage, options, counts, error, ...times }: CheckRow): StorageCheck => ({
  id,
  status,
  stage,
  repair: options.repair,
  delete_unknown: options.deleteUnknown,
  checksums: options.checksums,
  orphan_age_s: options.orphanAgeSeconds,
  object_count: counts.objects,
  asset_count: counts.assets,
  video_count: counts.videos,
  finding_count: counts.findings,
  repaired_count: counts.repaired,
  findings_by_kind: counts.kinds,
  skipped_providers: [...counts.skippedProviders],
  error,
  created_at: times.created_at.toISOString(),
  updated_at: times.updated_at.toISOString(),
  finished_at: times.finished_at?.toISOString() ?? null,
});

const toFinding = ({
  check_id: _id,
  number: _number,
  repaired_at,
  ...finding
}: FindingRow): StorageFinding => ({
  ...finding,
  message: FINDING_KINDS[finding.kind],
  repaired_at: repaired_at?.toISOString() ?? null,
});
