// The reconcile job: checks every due asset with its provider or its job, and records the result.
import type { DelayReason } from '@mediary/contract/enums';
import type { Asset, ProviderName } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { ENCODE_JOBS } from '../encoding/encode-jobs.ts';
import type { JobPayloads, JobRequest } from '../jobs.ts';
import {
  addMs,
  expectedMs,
  isFactsCheck,
  nextFactsCheckAt,
  nextReconcileAfterFailure,
  nextReconcileAt,
  untilExpiry,
} from '../lifecycle/decisions/reconcile-schedule.ts';
import type { StreamReport } from '../lifecycle/decisions/stream-report.ts';
import { collectFailures } from '../platform/concurrency/collect-failures.ts';
import { assertTrustedClock, openDatabaseClock } from '../platform/postgres/database-clock.ts';
import { type Inspection, ProviderError } from '../providers/provider.ts';
import type { UpkeepContext } from './context.ts';
import { PROVIDER_UNAVAILABLE, UPLOAD_EXPIRED, VIDEO_MISSING } from './failures.ts';
import { findDueAssets, findLastEventTime, hasUnfinishedWork, measureRecentSpeeds } from './upkeep.sql.ts';

/** Bounds one run; the next run, a minute later, checks the rest. */
const MAX_PER_RUN = 500;
const DAY_MS = 86_400_000;
/** A linked video without bytes is checked for as long as reports are parked. */
const LINK_CHECKS_END_MS = 7 * DAY_MS;

/** Inspections by asset. Assets beyond the rate limit of this run have none. */
type Inspections = Awaited<ReturnType<UpkeepContext['providers']['inspectAll']>>;
/** Seconds of film per second, by provider. */
type Speeds = ReadonlyMap<ProviderName | null, number>;

export const isReconcileNeeded = ({ db }: UpkeepContext): Promise<boolean> => hasUnfinishedWork(db);

/** Returns the number of checked assets. */
export const reconcile = async (ctx: UpkeepContext): Promise<number> =>
  checkDueAssets(await byDatabaseClock(ctx));

/** Deadlines are compared with the database's clock, which all processes share. */
async function byDatabaseClock(ctx: UpkeepContext): Promise<UpkeepContext> {
  const { databaseNow } = ctx.clocks;
  await assertTrustedClock(ctx.clocks);
  return { ...ctx, clocks: { databaseNow, now: await openDatabaseClock(databaseNow) } };
}

async function checkDueAssets(ctx: UpkeepContext): Promise<number> {
  const due = await findDueAssets(ctx.db, ctx.clocks.now(), MAX_PER_RUN);
  const speeds: Speeds =
    due.length > 0 ? await measureRecentSpeeds(ctx.db, [...ctx.providers.registry.keys()]) : new Map();
  const overdue: Asset[] = [];
  const failures = await collectFailures(due, async (asset) => {
    const deadline = await findFutureDeadline(ctx, asset, speeds);
    if (!deadline) overdue.push(asset);
    else await ctx.lifecycle.recordCheck(asset, { data: { reason: 'not_due' }, checkAt: deadline });
  });
  failures.push(...(await checkAll(ctx, overdue)));
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${due.length} assets could not be checked`);
  return due.length;
}

/** No provider delays the checks of other assets, however slowly it responds. Returns the errors. */
async function checkAll(ctx: UpkeepContext, assets: readonly Asset[]): Promise<unknown[]> {
  const own = assets.filter((asset) => !ctx.providers.isHosted(asset));
  const failures = await collectFailures(own, (asset) => checkJob(ctx, asset));
  const hosted = Map.groupBy(assets.filter(ctx.providers.isHosted), ({ provider }) => provider);
  const checked = [...hosted.values()].map((group) => checkGroup(ctx, group).catch((error) => [error]));
  return [...failures, ...(await Promise.all(checked)).flat()];
}

async function checkGroup(ctx: UpkeepContext, assets: readonly Asset[]): Promise<unknown[]> {
  const inspections = await ctx.providers.inspectAll(assets.filter(ctx.providers.canInspect));
  return collectFailures(assets, (asset) => checkHosted(ctx, asset, inspections));
}

/** Checks one asset that a process without the settings of its provider left to this one. */
export const reconcileAsset = async (ctx: UpkeepContext, assetId: string): Promise<void> =>
  checkAsset(await byDatabaseClock(ctx), assetId);

async function checkAsset(ctx: UpkeepContext, assetId: string): Promise<void> {
  const asset = await ctx.lifecycle.findAssetById(assetId);
  if (!asset || asset.deleted_at || asset.reconcile_at === null) return;
  const [failure] = await checkAll(ctx, [asset]);
  if (failure !== undefined) throw failure;
}

/** Until then processing lasts as long as expected at the provider's recent speed. Undefined: overdue. */
async function findFutureDeadline(ctx: UpkeepContext, asset: Asset, speeds: Speeds) {
  // The heartbeat of the operator's encoder is shorter than any deadline.
  if (asset.stream_status !== 'processing' || (await ctx.providers.findEncoderState(asset))) return undefined;
  const deadline = addMs(await getAttemptStart(ctx, asset), expectedMs(asset, speeds.get(asset.provider)));
  return deadline > ctx.clocks.now() ? deadline : undefined;
}

const getAttemptStart = async ({ db }: UpkeepContext, { id, created_at }: Asset): Promise<Date> =>
  (await findLastEventTime(db, id, 'asset.processing')) ?? created_at;

/** Our own processing has failed silently only if its job no longer exists. */
async function checkJob(ctx: UpkeepContext, asset: Asset): Promise<void> {
  if (asset.stream_status !== 'processing') return endChecks(ctx, asset, { reason: 'nothing_waited_for' });
  // Without stored bytes, an external encoder has the video; only its reports show its progress.
  if (!asset.uploaded_at) return checkLater(ctx, asset, { data: { reason: 'encoder_outside' } });
  const job = ctx.providers.startJob(asset);
  if (!job || (await hasOpenJob(ctx, asset, job)))
    return checkLater(ctx, asset, { data: { reason: 'job_under_way' } });
  const encoder = await ctx.providers.findEncoderState(asset);
  if (encoder) return checkEncoder(ctx, asset, { encoder, job });
  await ctx.lifecycle.recordCheck(asset, {
    data: { reason: 'job_lost' },
    checkAt: nextReconcileAt(await getAttemptStart(ctx, asset), ctx.clocks.now()),
    job,
    restartsEncoding: true,
  });
}

type EncoderCheck = {
  readonly encoder: NonNullable<Awaited<ReturnType<UpkeepContext['providers']['findEncoderState']>>>;
  readonly job: JobRequest;
};

/** A silent encoder is asked again, until it was asked often enough. */
async function checkEncoder(ctx: UpkeepContext, asset: Asset, { encoder, job }: EncoderCheck): Promise<void> {
  if (encoder.state === 'at_work') {
    const { checkAt } = encoder;
    return void (await ctx.lifecycle.recordCheck(asset, { data: {}, checkAt, isSilent: true }));
  }
  if (encoder.isFinal) return ctx.providers.failSilentAttempt(asset);
  const checkAt = nextReconcileAt(ctx.clocks.now(), ctx.clocks.now());
  await ctx.lifecycle.recordCheck(asset, { data: { reason: 'encoder_silent' }, checkAt, job });
}

async function hasOpenJob(
  { jobs }: UpkeepContext,
  asset: Asset,
  { name, payload }: JobRequest,
): Promise<boolean> {
  if (await jobs.hasOpenJob(name, payload as Partial<JobPayloads[typeof name]>)) return true;
  // An encode goes through several queues. Workers may have jobs from before ONPREM_ENCODER_URL was set.
  if (name === 'encode-asset' || name === 'ask-encoder')
    for (const each of ENCODE_JOBS) if (await jobs.hasOpenJob(each, payload)) return true;
  return jobs.hasOpenJob('deliver-report', { assetId: asset.id });
}

async function checkHosted(ctx: UpkeepContext, asset: Asset, inspections: Inspections): Promise<void> {
  if (asset.provider_video_id === null)
    return void (await ctx.lifecycle.refuseUnchangedAsset(asset, PROVIDER_UNAVAILABLE));
  if (isFactsCheck(asset)) return checkFacts(ctx, asset, inspections);
  if (!ctx.providers.canInspect(asset)) return leaveToOthers(ctx, asset);
  const inspection = inspections.get(asset.id);
  if (!inspection) return;
  if (inspection instanceof ProviderError)
    return checkLater(ctx, asset, { data: toFailureData(inspection), delay: 'provider_unavailable' });
  if (inspection.state === 'waiting') return checkEmptyVideo(ctx, asset);
  await recordResult(ctx, asset, await ctx.providers.applyInspection(asset, toReport(asset, inspection)));
}

/** Completes the facts of a ready video. A provider that does not know all is asked again for a day. */
async function checkFacts(ctx: UpkeepContext, asset: Asset, inspections: Inspections): Promise<void> {
  const checkAt = await findFactsCheckTime(ctx, asset);
  if (!ctx.providers.canInspect(asset)) return leaveFactsToOthers(ctx, asset, checkAt);
  const inspection = inspections.get(asset.id);
  if (!inspection) return;
  if (!(inspection instanceof ProviderError) && inspection.state === 'known') {
    const { report } = inspection;
    const isComplete = report.event !== 'started' && report.complete !== false;
    return void (await ctx.lifecycle.recordFacts(asset, { report, checkAt: isComplete ? null : checkAt }));
  }
  const reason = checkAt ? 'facts_unknown' : 'facts_given_up';
  const failure = inspection instanceof ProviderError ? toFailureData(inspection) : {};
  await ctx.lifecycle.recordCheck(asset, { data: { ...failure, reason }, checkAt });
}

async function findFactsCheckTime({ db, clocks }: UpkeepContext, { id, created_at }: Asset) {
  const readyAt = (await findLastEventTime(db, id, 'asset.ready')) ?? created_at;
  return nextFactsCheckAt(readyAt, clocks.now());
}

/** The timeline says why the asset waits, once. */
async function leaveToOthers(ctx: UpkeepContext, asset: Asset): Promise<void> {
  const isNews = await ctx.providers.queueForSettings(asset, 'inspect');
  const checkAt = nextReconcileAt(await getAttemptStart(ctx, asset), ctx.clocks.now());
  await ctx.lifecycle.recordCheck(asset, { data: { reason: 'not_configured' }, checkAt, isSilent: !isNews });
}

/** Facts are not worth an entry in the timeline: the video plays without them. */
async function leaveFactsToOthers(ctx: UpkeepContext, asset: Asset, checkAt: Date | null): Promise<void> {
  if (await ctx.providers.hasWorkerFor(asset.provider as ProviderName))
    await ctx.providers.queueForSettings(asset, 'inspect');
  await ctx.lifecycle.recordFacts(asset, { checkAt });
}

const toReport = (asset: Asset, inspection: Inspection): StreamReport =>
  inspection.state === 'known'
    ? inspection.report
    : { source: 'inspect', provider: asset.provider, event: 'failed', failure: VIDEO_MISSING };

/** The provider has the video but no bytes. A linked video has no expiry. */
async function checkEmptyVideo(ctx: UpkeepContext, asset: Asset): Promise<void> {
  const { stream_status, upload_expires_at: expiresAt, created_at } = asset;
  const isPending = stream_status === 'pending_upload';
  const isOverdue = isPending && expiresAt !== null && expiresAt <= ctx.clocks.now();
  if (isOverdue && !(await ctx.uploads.isFetched(asset.id)))
    return void (await ctx.lifecycle.refuseUnchangedAsset(asset, UPLOAD_EXPIRED));
  const isAbandonedLink =
    isPending && expiresAt === null && addMs(created_at, LINK_CHECKS_END_MS) < ctx.clocks.now();
  if (isAbandonedLink) return endChecks(ctx, asset, { reason: 'nothing_waited_for' });
  await checkLater(ctx, asset, { data: { reason: 'no_bytes_yet' } });
}

async function recordResult(ctx: UpkeepContext, before: Asset, after: Asset): Promise<void> {
  const data =
    after.stream_status === before.stream_status
      ? { reason: `still_${after.stream_status}`, progress: after.progress }
      : { reason: 'repaired' };
  // One that was pending or failed has only begun.
  const isLate = before.stream_status === 'processing';
  if (after.stream_status === 'processing')
    return checkLater(ctx, after, { data, ...(isLate && { delay: 'provider_slow' }) });
  await ctx.lifecycle.recordCheck(after, { data, checkAt: await findCheckAfterResult(ctx, after) });
}

/** Null when the provider's report leaves nothing to wait for. */
async function findCheckAfterResult(ctx: UpkeepContext, asset: Asset): Promise<Date | null> {
  const { id, stream_status: status, ready_at: readyAt } = asset;
  if (status === 'ready' && readyAt === null) return findFactsCheckTime(ctx, asset);
  if (status !== 'failed') return null;
  const failedAt = (await findLastEventTime(ctx.db, id, 'asset.failed')) ?? ctx.clocks.now();
  return nextReconcileAfterFailure(failedAt, ctx.clocks.now());
}

/** `delay`: why an asset that should be ready is not. */
type LaterCheck = { readonly data: EventData; readonly delay?: DelayReason };

async function checkLater(ctx: UpkeepContext, asset: Asset, { data, delay }: LaterCheck): Promise<void> {
  const next = nextReconcileAt(await getAttemptStart(ctx, asset), ctx.clocks.now());
  const checkAt = untilExpiry(asset, next, ctx.clocks.now());
  await ctx.lifecycle.recordCheck(asset, { data, checkAt, delay: delay && { reason: delay } });
}

async function endChecks({ lifecycle }: UpkeepContext, asset: Asset, data: EventData) {
  await lifecycle.recordCheck(asset, { data, checkAt: null });
}

const toFailureData = ({ failure, providerCode }: ProviderError): EventData => ({
  reason: 'not_answered',
  code: failure.code,
  ...(providerCode !== undefined && { provider_code: providerCode }),
});
