// The reconcile job: checks every due asset with its provider or its job, and records the result.
import type { Asset, ProviderName } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import type { findAssetById } from '../assets/asset-lookup.ts';
import { ENCODE_JOBS } from '../encoding/encode-jobs.ts';
import type { JobPayloads, JobRequest, ServiceJobs } from '../jobs.ts';
import {
  addMs,
  expectedMs,
  isFactsCheck,
  nextFactsCheckAt,
  nextReconcileAfterFailure,
  nextReconcileAt,
  untilExpiry,
} from '../lifecycle/reconcile-schedule.ts';
import type { recordCheck, recordFacts, refuseUnchangedAsset } from '../lifecycle/reports.ts';
import type { StreamReport } from '../lifecycle/stream-report.ts';
import type { Bound } from '../platform/bind.ts';
import { collectFailures } from '../platform/concurrency/collect-failures.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { failSilentAttempt, findEncoderState } from '../providers/encoder-jobs.ts';
import type { isHosted } from '../providers/hosted-playback.ts';
import type { queueForSettings } from '../providers/handover.ts';
import type { applyInspection, canInspect } from '../providers/hosted-videos.ts';
import type { inspectAll } from '../providers/inspections.ts';
import { type Inspection, type Provider, ProviderError, type Providers } from '../providers/provider.ts';
import type { hasWorkerFor } from '../providers/workers.ts';
import { PROVIDER_UNAVAILABLE, UPLOAD_EXPIRED, VIDEO_MISSING } from './failures.ts';
import { findDueAssets, findLastEventTime, measureRecentSpeeds } from './upkeep.sql.ts';

type ReconcileNeeds = {
  readonly db: Database;
  readonly providers: Providers;
  readonly jobs: ServiceJobs;
  readonly now: () => Date;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly isHosted: Bound<typeof isHosted>;
  readonly canInspect: Bound<typeof canInspect>;
  readonly inspectAll: Bound<typeof inspectAll>;
  readonly applyInspection: Bound<typeof applyInspection>;
  readonly startJob: Provider['startJob'];
  readonly findEncoderState: Bound<typeof findEncoderState>;
  readonly failSilentAttempt: Bound<typeof failSilentAttempt>;
  readonly recordCheck: Bound<typeof recordCheck>;
  readonly recordFacts: Bound<typeof recordFacts>;
  readonly refuseUnchangedAsset: Bound<typeof refuseUnchangedAsset>;
  readonly queueForSettings: Bound<typeof queueForSettings>;
  readonly hasWorkerFor: Bound<typeof hasWorkerFor>;
};

/** Bounds one run; the next run, a minute later, checks the rest. */
const MAX_PER_RUN = 500;
const DAY_MS = 86_400_000;
/** A linked video without bytes is checked for as long as reports are parked. */
const LINK_CHECKS_END_MS = 7 * DAY_MS;

/** Inspections by asset. Assets beyond the rate limit of this run have none. */
type Inspections = Awaited<ReturnType<ReconcileNeeds['inspectAll']>>;
/** Seconds of film per second, by provider. */
type Speeds = ReadonlyMap<ProviderName | null, number>;

/** Returns the number of checked assets. */
export async function reconcile(needs: ReconcileNeeds): Promise<number> {
  const due = await findDueAssets(needs.db, needs.now(), MAX_PER_RUN);
  const speeds: Speeds =
    due.length > 0 ? await measureRecentSpeeds(needs.db, [...needs.providers.keys()]) : new Map();
  const overdue: Asset[] = [];
  const failures = await collectFailures(due, async (asset) => {
    const deadline = await findFutureDeadline(needs, asset, speeds);
    if (!deadline) overdue.push(asset);
    else await needs.recordCheck(asset, { data: { reason: 'not_due' }, checkAt: deadline });
  });
  const inspections = await needs.inspectAll(overdue.filter(needs.canInspect));
  failures.push(...(await collectFailures(overdue, (asset) => check(needs, asset, inspections))));
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${due.length} assets could not be checked`);
  return due.length;
}

/** Checks one asset that a process without the settings of its provider left to this one. */
export async function reconcileAsset(needs: ReconcileNeeds, assetId: string): Promise<void> {
  const asset = await needs.findAssetById(assetId);
  if (!asset || asset.deleted_at || asset.reconcile_at === null) return;
  await check(needs, asset, await needs.inspectAll([asset].filter(needs.canInspect)));
}

/** Until then processing lasts as long as expected at the provider's recent speed. Undefined: overdue. */
async function findFutureDeadline(needs: ReconcileNeeds, asset: Asset, speeds: Speeds) {
  // The heartbeat of the operator's encoder is shorter than any deadline.
  if (asset.stream_status !== 'processing' || (await needs.findEncoderState(asset))) return undefined;
  const deadline = addMs(await getAttemptStart(needs, asset), expectedMs(asset, speeds.get(asset.provider)));
  return deadline > needs.now() ? deadline : undefined;
}

const getAttemptStart = async ({ db }: ReconcileNeeds, { id, created_at }: Asset): Promise<Date> =>
  (await findLastEventTime(db, id, 'asset.processing')) ?? created_at;

const check = (needs: ReconcileNeeds, asset: Asset, inspections: Inspections): Promise<void> =>
  needs.isHosted(asset) ? checkHosted(needs, asset, inspections) : checkJob(needs, asset);

/** Our own processing has failed silently only if its job no longer exists. */
async function checkJob(needs: ReconcileNeeds, asset: Asset): Promise<void> {
  if (asset.stream_status !== 'processing') return endChecks(needs, asset, { reason: 'nothing_waited_for' });
  // Without stored bytes, an external encoder has the video; only its reports show its progress.
  if (!asset.uploaded_at) return checkLater(needs, asset, { reason: 'encoder_outside' });
  const job = needs.startJob(asset);
  if (!job || (await hasOpenJob(needs, asset, job)))
    return checkLater(needs, asset, { reason: 'job_under_way' });
  const encoder = await needs.findEncoderState(asset);
  if (encoder) return checkEncoder(needs, asset, { encoder, job });
  await needs.recordCheck(asset, {
    data: { reason: 'job_lost' },
    checkAt: nextReconcileAt(await getAttemptStart(needs, asset), needs.now()),
    job,
    restartsEncoding: true,
  });
}

type EncoderCheck = {
  readonly encoder: NonNullable<Awaited<ReturnType<ReconcileNeeds['findEncoderState']>>>;
  readonly job: JobRequest;
};

/** A silent encoder is asked again, until it was asked often enough. */
async function checkEncoder(
  needs: ReconcileNeeds,
  asset: Asset,
  { encoder, job }: EncoderCheck,
): Promise<void> {
  if (encoder.state === 'at_work') {
    const { checkAt } = encoder;
    return void (await needs.recordCheck(asset, { data: {}, checkAt, isSilent: true }));
  }
  if (encoder.isFinal) return needs.failSilentAttempt(asset);
  const checkAt = nextReconcileAt(needs.now(), needs.now());
  await needs.recordCheck(asset, { data: { reason: 'encoder_silent' }, checkAt, job });
}

async function hasOpenJob(
  { jobs }: ReconcileNeeds,
  asset: Asset,
  { name, payload }: JobRequest,
): Promise<boolean> {
  if (await jobs.hasOpenJob(name, payload as Partial<JobPayloads[typeof name]>)) return true;
  // An encode goes through several queues. Workers may have jobs from before ONPREM_ENCODER_URL was set.
  if (name === 'encode-asset' || name === 'ask-encoder')
    for (const each of ENCODE_JOBS) if (await jobs.hasOpenJob(each, payload)) return true;
  return jobs.hasOpenJob('deliver-report', { assetId: asset.id });
}

async function checkHosted(needs: ReconcileNeeds, asset: Asset, inspections: Inspections): Promise<void> {
  if (asset.provider_video_id === null)
    return void (await needs.refuseUnchangedAsset(asset, PROVIDER_UNAVAILABLE));
  if (isFactsCheck(asset)) return checkFacts(needs, asset, inspections);
  if (!needs.canInspect(asset)) return leaveToOthers(needs, asset);
  const inspection = inspections.get(asset.id);
  if (!inspection) return;
  if (inspection instanceof ProviderError) return checkLater(needs, asset, toFailureData(inspection));
  if (inspection.state === 'waiting') return checkEmptyVideo(needs, asset);
  await recordResult(needs, asset, await needs.applyInspection(asset, toReport(asset, inspection)));
}

/** Completes the facts of a ready video. A provider that does not know them is asked again for a day. */
async function checkFacts(needs: ReconcileNeeds, asset: Asset, inspections: Inspections): Promise<void> {
  const readyAt = (await findLastEventTime(needs.db, asset.id, 'asset.ready')) ?? asset.created_at;
  const checkAt = nextFactsCheckAt(readyAt, needs.now());
  if (!needs.canInspect(asset)) return leaveFactsToOthers(needs, asset, checkAt);
  const inspection = inspections.get(asset.id);
  if (!inspection) return;
  if (!(inspection instanceof ProviderError) && inspection.state === 'known') {
    const { report } = inspection;
    const isComplete = report.event !== 'started' && report.complete !== false;
    return void (await needs.recordFacts(asset, { report, checkAt: isComplete ? null : checkAt }));
  }
  const reason = checkAt ? 'facts_unknown' : 'facts_given_up';
  const failure = inspection instanceof ProviderError ? toFailureData(inspection) : {};
  await needs.recordCheck(asset, { data: { ...failure, reason }, checkAt });
}

/** The timeline says why the asset waits, once. */
async function leaveToOthers(needs: ReconcileNeeds, asset: Asset): Promise<void> {
  const isNews = await needs.queueForSettings(asset, 'inspect');
  const checkAt = nextReconcileAt(await getAttemptStart(needs, asset), needs.now());
  await needs.recordCheck(asset, { data: { reason: 'not_configured' }, checkAt, isSilent: !isNews });
}

/** Facts are not worth an entry in the timeline: the video plays without them. */
async function leaveFactsToOthers(needs: ReconcileNeeds, asset: Asset, checkAt: Date | null): Promise<void> {
  if (await needs.hasWorkerFor(asset.provider as ProviderName))
    await needs.queueForSettings(asset, 'inspect');
  await needs.recordFacts(asset, { checkAt });
}

const toReport = (asset: Asset, inspection: Inspection): StreamReport =>
  inspection.state === 'known'
    ? inspection.report
    : { source: 'inspect', provider: asset.provider, event: 'failed', failure: VIDEO_MISSING };

/** The provider has the video but no bytes. A linked video has no expiry. */
async function checkEmptyVideo(needs: ReconcileNeeds, asset: Asset): Promise<void> {
  const { stream_status, upload_expires_at: expiresAt, created_at } = asset;
  const isPending = stream_status === 'pending_upload';
  if (isPending && expiresAt !== null && expiresAt <= needs.now())
    return void (await needs.refuseUnchangedAsset(asset, UPLOAD_EXPIRED));
  const isAbandonedLink =
    isPending && expiresAt === null && addMs(created_at, LINK_CHECKS_END_MS) < needs.now();
  if (isAbandonedLink) return endChecks(needs, asset, { reason: 'nothing_waited_for' });
  await checkLater(needs, asset, { reason: 'no_bytes_yet' });
}

async function recordResult(needs: ReconcileNeeds, before: Asset, after: Asset): Promise<void> {
  const data =
    after.stream_status === before.stream_status
      ? { reason: `still_${after.stream_status}`, progress: after.progress }
      : { reason: 'repaired' };
  if (after.stream_status === 'processing') return checkLater(needs, after, data);
  if (after.stream_status !== 'failed') return endChecks(needs, after, data);
  const failedAt = (await findLastEventTime(needs.db, after.id, 'asset.failed')) ?? needs.now();
  const checkAt = nextReconcileAfterFailure(failedAt, needs.now());
  await needs.recordCheck(after, { data, checkAt });
}

async function checkLater(needs: ReconcileNeeds, asset: Asset, data: EventData): Promise<void> {
  const next = nextReconcileAt(await getAttemptStart(needs, asset), needs.now());
  await needs.recordCheck(asset, { data, checkAt: untilExpiry(asset, next, needs.now()) });
}

async function endChecks({ recordCheck: record }: ReconcileNeeds, asset: Asset, data: EventData) {
  await record(asset, { data, checkAt: null });
}

const toFailureData = ({ failure, providerCode }: ProviderError): EventData => ({
  reason: 'not_answered',
  code: failure.code,
  ...(providerCode !== undefined && { provider_code: providerCode }),
});
