// Runs a storage check: stage by stage, in batches whose findings and position commit together.
import { CHECK_STAGES } from '@mediary/contract/schemas/admin/storage-checks';
import { isUnavailable } from '../../platform/http/errors.ts';
import { isPurged } from '../../assets/asset.ts';
import { whileRenewing } from '../../platform/concurrency/lease.ts';
import type { UpkeepContext } from '../context.ts';
import { compareAssets } from './asset-objects.ts';
import {
  type CheckRow,
  claimCheck,
  deleteCheck,
  deleteFindings,
  endCheck,
  type Finding,
  findOldChecks,
  findUnrepaired,
  insertFindings,
  KEPT_CHECKS,
  listAssetRows,
  recordProgress,
  recordRepair,
  recordRunError,
  touchCheck,
} from './check.sql.ts';
import { compareVideos } from './provider-videos.ts';
import { repairFinding } from './repairs.ts';
import { compareObjects, findOrphanedUploads } from './stored-objects.ts';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const ASSETS = 200;
/** Each original is read: a worker that takes over repeats few of them. */
const READ_ASSETS = 5;
const REPAIRS = 100;
const DELETED = 10_000;
const TOUCH_EVERY_MS = 20_000;
/** Bounds the rows of one check. A check with repairs can be started again for the rest. */
const MAX_FINDINGS = 1_000_000;

/** Another worker has the check, or it was cancelled. */
class SupersededError extends Error {}

/** Continues where an earlier run has stopped. Does nothing if the check has ended. */
export async function runCheck(ctx: UpkeepContext, id: string, signal: AbortSignal): Promise<void> {
  const claimed = await claimCheck(ctx.db, id);
  if (!claimed) return;
  const superseded = new AbortController();
  const renew = async () => {
    if (!(await touchCheck(ctx.db, claimed))) superseded.abort(new SupersededError());
  };
  const run = { signal: AbortSignal.any([signal, superseded.signal]), check: claimed };
  try {
    await whileRenewing({ everyMs: TOUCH_EVERY_MS, renew }, () => runStages(ctx, run));
  } catch (error) {
    if (error instanceof SupersededError || superseded.signal.aborted) return;
    if (!signal.aborted) await recordRunError(ctx.db, { ...claimed, error: toText(error) });
    throw error;
  }
}

/** `check` is replaced as it makes progress. */
type Run = { readonly signal: AbortSignal; check: CheckRow };

async function runStages(ctx: UpkeepContext, run: Run): Promise<void> {
  await deleteOldChecks(ctx, run);
  await repairFindings(ctx, run);
  for (const stage of CHECK_STAGES.slice(CHECK_STAGES.indexOf(run.check.stage))) {
    if (run.check.stage !== stage) await record(ctx, run, { stage, position: '' });
    for await (const batch of STAGES[stage](ctx, run)) {
      run.signal.throwIfAborted();
      await record(ctx, run, batch);
      await repairFindings(ctx, run);
      if (run.check.counts.findings >= MAX_FINDINGS) {
        await endAtLimit(ctx, run);
        return;
      }
    }
  }
  await endCheck(ctx.db, { id: run.check.id, status: 'done' });
}

async function deleteOldChecks({ db }: UpkeepContext, { signal }: Run): Promise<void> {
  for (const { id } of await findOldChecks(db, KEPT_CHECKS)) {
    while ((await deleteFindings(db, id, DELETED)) === DELETED) signal.throwIfAborted();
    await deleteCheck(db, id);
  }
}

const endAtLimit = (ctx: UpkeepContext, { check: { id, counts } }: Run) =>
  endCheck(ctx.db, {
    id,
    status: 'failed',
    error: `The check ended after ${counts.findings} findings. Repair them and start it again for the rest.`,
  });

type Counted = 'objects' | 'assets' | 'videos';
type Batch = Partial<Pick<CheckRow, 'stage' | 'position'> & Record<Counted, number>> & {
  readonly findings?: readonly Finding[];
  /** A provider that could not be asked. */
  readonly skipped?: string;
};

type StageRun = (ctx: UpkeepContext, run: Run) => AsyncIterable<Batch>;

const STAGES: Readonly<Record<CheckRow['stage'], StageRun>> = {
  objects: (ctx, { check }) => compareObjects(ctx, check.options, check.position),
  uploads: async function* (ctx, { check }) {
    if (check.position === '') yield { findings: await findOrphanedUploads(ctx), position: 'end' };
  },
  assets: compareAllAssets,
  videos: (ctx, { check }) => compareVideos(ctx, check),
};

async function* compareAllAssets(ctx: UpkeepContext, { check, signal }: Run): AsyncGenerator<Batch> {
  const { checksums } = check.options;
  const size = checksums ? READ_ASSETS : ASSETS;
  let position = check.position === '' ? FIRST_ID : check.position;
  for (;;) {
    const rows = await listAssetRows(ctx.db, position, size);
    position = rows.at(-1)?.id ?? position;
    const assets = rows.filter((asset) => !isPurged(asset));
    const findings = await compareAssets(ctx, assets, { checksums, signal });
    yield { findings, assets: assets.length, position };
    if (rows.length < size) return;
  }
}

/** A batch is recorded as a whole or not at all. */
async function record(ctx: UpkeepContext, run: Run, batch: Batch): Promise<void> {
  const { check } = run;
  const { findings = [], skipped, stage = check.stage, position = check.position } = batch;
  const { counts } = check;
  const kinds = { ...counts.kinds };
  for (const { kind } of findings) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const next = {
    ...check,
    stage,
    position,
    counts: {
      ...counts,
      objects: counts.objects + (batch.objects ?? 0),
      assets: counts.assets + (batch.assets ?? 0),
      videos: counts.videos + (batch.videos ?? 0),
      findings: counts.findings + findings.length,
      kinds,
      skippedProviders: [...new Set([...counts.skippedProviders, ...(skipped ? [skipped] : [])])],
    },
  };
  await ctx.db.transaction(async (tx) => {
    if (!(await recordProgress(tx, next))) throw new SupersededError();
    if (findings.length > 0) await insertFindings(tx, { id: check.id, first: counts.findings + 1, findings });
  });
  run.check = next;
}

/** Findings are recorded before they are repaired, so that a crash loses none. */
async function repairFindings(ctx: UpkeepContext, run: Run): Promise<void> {
  const { options, id } = run.check;
  if (!options.repair) return;
  for (;;) {
    const findings = await findUnrepaired(ctx.db, id, REPAIRS);
    let repaired = 0;
    for (const finding of findings) {
      run.signal.throwIfAborted();
      const error = await repairFinding(ctx, finding, options).then(() => null, toText);
      await recordRepair(ctx.db, { ...finding, error });
      if (error === null) repaired += 1;
    }
    const { counts } = run.check;
    run.check = { ...run.check, counts: { ...counts, repaired: counts.repaired + repaired } };
    if (findings.length > 0) await record(ctx, run, {});
    if (findings.length < REPAIRS) return;
  }
}

/** An outage ends the run, which a later one continues. */
function toText(error: unknown): string {
  if (isUnavailable(error)) throw error;
  return error instanceof Error ? error.message : String(error);
}
