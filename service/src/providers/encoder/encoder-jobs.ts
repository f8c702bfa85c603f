// Hands videos over to the operator's own encoder, and finds out whether it still works on them.
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { Asset } from '../../assets/asset.ts';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import { issueTicket } from '../../auth/asset-ticket.ts';
import type { Secret } from '../../auth/secret.ts';
import type { JobPayloads, ServiceJobs } from '../../jobs.ts';
import { expectedMs } from '../../lifecycle/reconcile-schedule.ts';
import type { applyReport, recordCheck, verifyOriginal } from '../../lifecycle/reports.ts';
import type { Bound } from '../../platform/bind.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { originalKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { EncoderAnswer, EncoderApi } from '../encoder-api.ts';
import { countRequests, type EncoderState, judgeEncoderJob } from './encoder-silence.ts';
import { findLastCheckReason } from '../handover.sql.ts';
import { deleteJob, findJob, recordJob } from './encoder-jobs.sql.ts';
import type { Providers } from '../provider.ts';

type EncoderNeeds = {
  readonly db: Database;
  readonly jobs: Pick<ServiceJobs, 'send'>;
  readonly providers: Providers;
  readonly store: Pick<ObjectStore, 'direct' | 'stream'>;
  readonly urlSecrets: readonly Secret[];
  /** Where the encoder reaches the service. */
  readonly callbackBaseUrl: () => string;
  readonly now: () => Date;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly verifyOriginal: Bound<typeof verifyOriginal>;
  readonly applyReport: Bound<typeof applyReport>;
  readonly recordCheck: Bound<typeof recordCheck>;
};

/** Where the settings of an accepted job are gone. */
const DEFAULT_HEARTBEAT_MS = 300_000;
const MIN_DEADLINE_MS = 3_600_000;
/** Presigned URLs of S3 cannot be valid for longer. */
const MAX_DEADLINE_MS = 7 * 86_400_000;

/** Does nothing when the attempt is over. Throws when the request must be retried. */
export async function askEncoder(
  needs: EncoderNeeds,
  { assetId, attempt }: JobPayloads['ask-encoder'],
): Promise<void> {
  const found = await needs.findAssetById(assetId);
  if (!found || !isWanted(found, attempt)) return;
  const encoder = getEncoder(needs, found);
  const asset = await needs.verifyOriginal(found, { read: () => needs.store.stream(originalKey(found)) });
  if (!isWanted(asset, attempt)) return;
  const now = needs.now();
  const deadline = new Date(now.getTime() + deadlineMs(asset));
  const answer = await startJob(needs, encoder, { asset, deadline });
  if ('refused' in answer) return failAttempt(needs, asset, answer.refused);
  const earlier = await findJob(needs.db, assetId);
  const requests = earlier?.attempt === attempt ? countRequests(earlier) + 1 : 1;
  const { jobUrl } = answer;
  await recordJob(needs.db, { assetId, attempt, requests, acceptedAt: now, deadline, jobUrl });
  // A cancellation while the encoder was asked found no job to end.
  const current = await needs.findAssetById(assetId);
  if (!current || !isWanted(current, attempt)) return releaseEncoder(needs, assetId);
  await needs.recordCheck(asset, {
    data: { source: 'service', reason: 'encoder_accepted' },
    checkAt: new Date(now.getTime() + encoder.heartbeatMs),
  });
}

const isWanted = (asset: Asset, attempt: number): boolean =>
  asset.attempt === attempt && asset.stream_status === 'processing' && asset.deleted_at === null;

function getEncoder({ providers }: EncoderNeeds, { provider }: Asset): EncoderApi {
  const encoder = providers.get(provider ?? '')?.encoder;
  if (!encoder) throw new Error('ONPREM_ENCODER_URL is not set in this process');
  return encoder;
}

const deadlineMs = (asset: Asset): number =>
  Math.min(Math.max(expectedMs(asset), MIN_DEADLINE_MS), MAX_DEADLINE_MS);

type Order = { readonly asset: Asset; readonly deadline: Date };

async function startJob(needs: EncoderNeeds, encoder: EncoderApi, order: Order): Promise<EncoderAnswer> {
  try {
    return await encoder.start({
      ...order,
      sourceUrl: await createSourceUrl(needs, order),
      callbackUrl: `${needs.callbackBaseUrl()}/api/v1/webhooks/stream/onprem`,
    });
  } catch (error) {
    await recordUnreachable(needs, order.asset);
    throw error;
  }
}

const UNREACHABLE = 'encoder_unreachable';

/** Once for all retries. */
async function recordUnreachable(needs: EncoderNeeds, asset: Asset): Promise<void> {
  if ((await findLastCheckReason(needs.db, asset.id)) === UNREACHABLE) return;
  const data = { source: 'service', reason: UNREACHABLE };
  await needs.recordCheck(asset, { data, checkAt: asset.reconcile_at });
}

async function createSourceUrl(needs: EncoderNeeds, { asset, deadline }: Order): Promise<string> {
  const expires = Math.floor(deadline.getTime() / 1000);
  const { direct } = needs.store;
  if (direct) {
    const presigned = await direct.presignGet({
      key: originalKey(asset),
      responseContentType: asset.mime_type,
      expiresInSeconds: expires - Math.floor(needs.now().getTime() / 1000),
    });
    return presigned.url;
  }
  const ticket = issueTicket(needs.urlSecrets, 'download', {
    assetId: asset.id,
    expires,
    playbackVersion: asset.playback_version,
  });
  return `${needs.callbackBaseUrl()}/api/v1/downloads/${asset.id}?ticket=${ticket}`;
}

/** A later report of the encoder still counts (contract B6). */
async function failAttempt(needs: EncoderNeeds, asset: Asset, message: string): Promise<void> {
  const failure = { code: 'encoder_refused', message, retryable: true };
  await reportFailure(needs, asset, failure);
}

/** Fails an attempt whose encoder did not report in spite of repeated requests. */
export async function failSilentAttempt(needs: EncoderNeeds, asset: Asset): Promise<void> {
  const message = FAILURE_CODES.encoder_silent;
  await reportFailure(needs, asset, { code: 'encoder_silent', message, retryable: true });
}

async function reportFailure(
  { applyReport: apply }: EncoderNeeds,
  { id, attempt, provider }: Asset,
  failure: NonNullable<Asset['failure']>,
): Promise<void> {
  await apply({ source: 'service', provider, event: 'failed', attempt, failure }, { ref: { assetId: id } });
}

/** Undefined when no encoder has accepted this attempt. */
export async function findEncoderState(
  { db, providers, now }: EncoderNeeds,
  { id, attempt, provider }: Asset,
): Promise<EncoderState | undefined> {
  const job = await findJob(db, id);
  if (job?.attempt !== attempt) return undefined;
  const heartbeatMs = providers.get(provider ?? '')?.encoder?.heartbeatMs ?? DEFAULT_HEARTBEAT_MS;
  return judgeEncoderJob(job, { heartbeatMs, now: now() });
}

/** Queues the request that ends the encoder's job, if there is one. */
export async function releaseEncoder({ db, jobs }: EncoderNeeds, assetId: string): Promise<void> {
  const job = await findJob(db, assetId);
  if (!job) return;
  const { attempt } = job;
  await db.transaction((tx) => jobs.send(tx, 'cancel-encoder-job', { assetId, attempt }));
}

/** Ends the encoder's job where it said how. Throws when the request must be retried. */
export async function cancelEncoderJob(
  { db, providers, findAssetById: find }: EncoderNeeds,
  { assetId, attempt: cancelled }: JobPayloads['cancel-encoder-job'],
): Promise<void> {
  const job = await findJob(db, assetId);
  if (!job) return;
  const { attempt, job_url: jobUrl } = job;
  // A retry may have replaced the job while the encoder could not be reached.
  if (cancelled === undefined ? isUsed(await find(assetId)) : cancelled !== attempt) return;
  const encoder = [...providers.values()].find((provider) => provider.encoder)?.encoder;
  if (encoder && jobUrl !== null) await encoder.cancel({ assetId, attempt, jobUrl });
  await deleteJob(db, assetId, attempt);
}

/** Whether the encoder's latest job is needed: the asset waits for its result, or plays it. */
const isUsed = (asset: Asset | undefined): boolean =>
  asset !== undefined && asset.deleted_at === null && asset.stream_status !== 'failed';
