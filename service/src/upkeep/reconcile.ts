// The sweep: looks at everything that is waited for once its time is over, asks the provider or finds the job, and says in the timeline what it saw.
import type { Asset, Failure, ProviderName } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import type { CheckRecord } from '../lifecycle/decide-commands.ts';
import {
  expectedMs,
  addMs,
  nextReconcileAt,
  nextReconcileAfterFailure,
} from '../lifecycle/reconcile-schedule.ts';
import type { StreamReport } from '../lifecycle/stream-report.ts';
import type { JobPayloads, ServiceJobs, StartJob } from '../jobs.ts';
import { isUnavailable } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { type Inspection, ProviderFailed, type Providers } from '../providers/provider.ts';
import { findDueAssets, lastEventAt, measureRecentSpeeds } from './reconcile.sql.ts';
import { UPLOAD_EXPIRED } from './upload-expired.ts';

export type ReconcileNeeds = {
  readonly db: Database;
  readonly providers: Providers;
  readonly jobs: ServiceJobs;
  readonly now: () => Date;
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly isHosted: (asset: Asset) => boolean;
  readonly canAsk: (asset: Asset) => boolean;
  /** By asset; nothing of those that are too many for this minute. */
  readonly inspectAll: (
    assets: readonly Asset[],
  ) => Promise<ReadonlyMap<string, Inspection | ProviderFailed>>;
  readonly applyInspection: (asset: Asset, report: StreamReport) => Promise<Asset>;
  readonly startJob: (asset: Asset) => StartJob | undefined;
  readonly recordCheck: (asset: Asset, check: CheckRecord) => Promise<Asset>;
  readonly refuseAsset: (asset: Asset, failure: Failure) => Promise<Asset>;
};

/** What is left over is as overdue a minute later. */
const MOST_IN_A_RUN = 500;
const MINUTE = 60_000;
/** A video that was linked without a word of `complete` may stay empty for so long: as long as reports are parked. */
const LINK_PATIENCE_MS = 7 * 24 * 60 * MINUTE;

type Answers = ReadonlyMap<string, Inspection | ProviderFailed>;

/** Answers how many it looked at. */
export async function reconcile(needs: ReconcileNeeds): Promise<number> {
  const waiting = await findDueAssets(needs.db, needs.now(), MOST_IN_A_RUN);
  const speeds: Speeds =
    waiting.length > 0 ? await measureRecentSpeeds(needs.db, [...needs.providers.keys()]) : new Map();
  const failures: unknown[] = [];
  const overdue = (await forEach(waiting, failures, (asset) => isOverdue(needs, asset, speeds))).flatMap(
    ({ asset, result }) => (result ? [asset] : []),
  );
  const answers = await needs.inspectAll(overdue.filter(needs.canAsk));
  await forEach(overdue, failures, (asset) => look(needs, asset, answers));
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `${failures.length} of ${waiting.length} assets could not be looked at`,
    );
  return waiting.length;
}

type Speeds = ReadonlyMap<ProviderName | null, number>;

/** One asset that cannot be looked at holds no other up; a database that is away ends the run. */
async function forEach<T>(
  assets: readonly Asset[],
  failures: unknown[],
  work: (asset: Asset) => Promise<T>,
): Promise<{ asset: Asset; result: T }[]> {
  const done: { asset: Asset; result: T }[] = [];
  for (const asset of assets) {
    try {
      done.push({ asset, result: await work(asset) });
    } catch (error) {
      if (isUnavailable(error)) throw error;
      failures.push(error);
    }
  }
  return done;
}

/** Work under way gets the time that it may take, as fast as its provider was lately. */
async function isOverdue(needs: ReconcileNeeds, asset: Asset, speeds: Speeds): Promise<boolean> {
  if (asset.stream_status !== 'processing') return true;
  const deadline = addMs(await attemptStart(needs, asset), expectedMs(asset, speeds.get(asset.provider)));
  if (deadline <= needs.now()) return true;
  await needs.recordCheck(asset, { words: { reason: 'not_due' }, checkAt: deadline });
  return false;
}

const look = (needs: ReconcileNeeds, asset: Asset, answers: Answers): Promise<void> =>
  needs.isHosted(asset) ? lookAtHosted(needs, asset, answers) : lookAtOwn(needs, asset);

const attemptStart = async ({ db }: ReconcileNeeds, { id, created_at }: Asset): Promise<Date> =>
  (await lastEventAt(db, id, 'asset.processing')) ?? created_at;

/** Our own work stands or falls with its job. */
async function lookAtOwn(needs: ReconcileNeeds, asset: Asset): Promise<void> {
  if (asset.stream_status !== 'processing')
    return void (await needs.recordCheck(asset, { words: { reason: 'nothing_waited_for' }, checkAt: null }));
  const checkAt = nextReconcileAt(await attemptStart(needs, asset), needs.now());
  // Without bytes of ours an encoder elsewhere is at work, and only its reports tell of it.
  if (!asset.uploaded_at)
    return void (await needs.recordCheck(asset, { words: { reason: 'encoder_outside' }, checkAt }));
  const job = needs.startJob(asset);
  if (!job || (await isUnderWay(needs, asset, job)))
    return void (await needs.recordCheck(asset, { words: { reason: 'job_under_way' }, checkAt }));
  await needs.recordCheck(asset, { words: { reason: 'job_lost' }, checkAt, job, isStartedAgain: true });
}

const isUnderWay = async (
  { jobs }: ReconcileNeeds,
  asset: Asset,
  { name, payload }: StartJob,
): Promise<boolean> =>
  (await jobs.isUnderWay(name, payload as Partial<JobPayloads[typeof name]>)) ||
  jobs.isUnderWay('deliver-report', { assetId: asset.id });

async function lookAtHosted(needs: ReconcileNeeds, asset: Asset, answers: Answers): Promise<void> {
  if (asset.provider_video_id === null) return void (await needs.refuseAsset(asset, UNREACHED));
  if (!needs.canAsk(asset)) return postpone(needs, asset, { reason: 'not_configured' });
  const found = answers.get(asset.id);
  if (!found) return;
  if (found instanceof ProviderFailed) return postpone(needs, asset, troubleOf(found));
  if (found.state === 'waiting') return bytesAreMissing(needs, asset);
  const told = await needs.applyInspection(
    asset,
    found.state === 'known' ? found.report : { ...MISSING, provider: asset.provider },
  );
  await afterAnswer(needs, { before: asset, now: told });
}

async function bytesAreMissing(needs: ReconcileNeeds, asset: Asset): Promise<void> {
  const isOver =
    asset.stream_status === 'pending_upload' &&
    asset.upload_expires_at !== null &&
    asset.upload_expires_at <= needs.now();
  const isGivenUp =
    asset.stream_status === 'pending_upload' &&
    asset.upload_expires_at === null &&
    addMs(asset.created_at, LINK_PATIENCE_MS) < needs.now();
  if (isOver) await needs.refuseAsset(asset, UPLOAD_EXPIRED);
  else if (isGivenUp)
    await needs.recordCheck(asset, { words: { reason: 'nothing_waited_for' }, checkAt: null });
  else await postpone(needs, asset, { reason: 'no_bytes_yet' });
}

/** What moved says so by itself; what did not gets its next look. */
async function afterAnswer(
  needs: ReconcileNeeds,
  { before, now: told }: { before: Asset; now: Asset },
): Promise<void> {
  const isMoved = told.stream_status !== before.stream_status;
  const words = isMoved
    ? { reason: 'repaired' }
    : { reason: `still_${told.stream_status}`, progress: told.progress };
  if (told.stream_status === 'processing') return postpone(needs, told, words);
  if (told.stream_status === 'failed') {
    const failedAt = (await lastEventAt(needs.db, told.id, 'asset.failed')) ?? needs.now();
    return void (await needs.recordCheck(told, {
      words,
      checkAt: nextReconcileAfterFailure(failedAt, needs.now()),
    }));
  }
  await needs.recordCheck(told, { words, checkAt: null });
}

async function postpone(needs: ReconcileNeeds, asset: Asset, words: EventData): Promise<void> {
  await needs.recordCheck(asset, {
    words,
    checkAt: nextReconcileAt(await attemptStart(needs, asset), needs.now()),
  });
}

const troubleOf = ({ failure, providerCode }: ProviderFailed): EventData => ({
  reason: 'not_answered',
  code: failure.code,
  ...(providerCode !== undefined && { provider_code: providerCode }),
});

const MISSING: Omit<StreamReport, 'provider'> = {
  source: 'inspect',
  event: 'failed',
  failure: {
    code: 'provider_video_missing',
    message: 'The video host does not have this video any more',
    retryable: false,
  },
};
const UNREACHED: Failure = {
  code: 'provider_unavailable',
  message: 'The video host was not reached when the upload was opened',
  retryable: true,
};
