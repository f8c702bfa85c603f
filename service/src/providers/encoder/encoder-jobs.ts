// Hands videos over to the operator's own encoder, and decides whether it still works on them.
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { Asset } from '../../assets/asset.ts';
import { issueTicket } from '../../auth/tickets/asset-ticket.ts';
import type { JobPayloads } from '../../jobs.ts';
import { expectedMs } from '../../lifecycle/decisions/reconcile-schedule.ts';
import { originalKey } from '../../storage/object-key.ts';
import type { ProvidersContext } from '../context.ts';
import type { EncoderAnswer, EncoderApi } from '../encoder-api.ts';
import { findLastCheckReason } from '../hosted-videos.sql.ts';
import { deleteJob, findJob, recordJob } from './encoder-jobs.sql.ts';

/** For a job whose encoder is no longer configured. */
const DEFAULT_HEARTBEAT_MS = 300_000;
const MIN_DEADLINE_MS = 3_600_000;
/** The maximum lifetime of a presigned URL of S3. */
const MAX_DEADLINE_MS = 7 * 86_400_000;

/** Does nothing when the attempt is over. Throws when the request must be retried. */
export async function askEncoder(
  ctx: ProvidersContext,
  { assetId, attempt }: JobPayloads['ask-encoder'],
): Promise<void> {
  const { db, lifecycle, store } = ctx;
  const found = await lifecycle.findAssetById(assetId);
  if (!found || !isWanted(found, attempt)) return;
  const encoder = getEncoder(ctx, found);
  const asset = await lifecycle.verifyOriginal(found, { read: () => store.stream(originalKey(found)) });
  if (!isWanted(asset, attempt)) return;
  const now = ctx.clocks.now();
  const deadline = new Date(now.getTime() + deadlineMs(asset));
  const answer = await startEncoderJob(ctx, encoder, { asset, deadline });
  if ('refused' in answer) return failAttempt(ctx, asset, answer.refused);
  const earlier = await findJob(db, assetId);
  const requests = earlier?.attempt === attempt ? countRequests(earlier) + 1 : 1;
  const { jobUrl } = answer;
  await recordJob(db, { assetId, attempt, requests, acceptedAt: now, deadline, jobUrl });
  // A cancellation during the request found no job to cancel.
  const current = await lifecycle.findAssetById(assetId);
  if (!current || !isWanted(current, attempt)) return releaseEncoder(ctx, assetId);
  await lifecycle.recordCheck(asset, {
    data: { source: 'service', reason: 'encoder_accepted' },
    checkAt: new Date(now.getTime() + encoder.heartbeatMs),
  });
}

const isWanted = (asset: Asset, attempt: number): boolean =>
  asset.attempt === attempt && asset.stream_status === 'processing' && asset.deleted_at === null;

function getEncoder({ registry }: ProvidersContext, { provider }: Asset): EncoderApi {
  const encoder = registry.get(provider ?? '')?.encoder;
  if (!encoder) throw new Error('ONPREM_ENCODER_URL is not set in this process');
  return encoder;
}

const deadlineMs = (asset: Asset): number =>
  Math.min(Math.max(expectedMs(asset), MIN_DEADLINE_MS), MAX_DEADLINE_MS);

type JobOrder = { readonly asset: Asset; readonly deadline: Date };

async function startEncoderJob(
  ctx: ProvidersContext,
  encoder: EncoderApi,
  order: JobOrder,
): Promise<EncoderAnswer> {
  try {
    return await encoder.start({
      ...order,
      sourceUrl: await createSourceUrl(ctx, order),
      callbackUrl: `${toBaseUrl(ctx)}/api/v1/webhooks/stream/onprem`,
    });
  } catch (error) {
    await recordUnreachable(ctx, order.asset);
    throw error;
  }
}

/** Where the encoder reaches the service. */
const toBaseUrl = ({ settings, service }: ProvidersContext): string =>
  settings.encoderCallbackUrl ?? service.publicBaseUrl();

const UNREACHABLE = 'encoder_unreachable';

/** Records one event for all retries. */
async function recordUnreachable({ db, lifecycle }: ProvidersContext, asset: Asset): Promise<void> {
  if ((await findLastCheckReason(db, asset.id)) === UNREACHABLE) return;
  const data = { source: 'service', reason: UNREACHABLE };
  await lifecycle.recordCheck(asset, { data, checkAt: asset.reconcile_at });
}

async function createSourceUrl(ctx: ProvidersContext, { asset, deadline }: JobOrder): Promise<string> {
  const expires = Math.floor(deadline.getTime() / 1000);
  const { direct } = ctx.store;
  if (direct) {
    const presigned = await direct.presignGet({
      key: originalKey(asset),
      responseContentType: asset.mime_type,
      expiresInSeconds: expires - Math.floor(ctx.clocks.now().getTime() / 1000),
    });
    return presigned.url;
  }
  const ticket = issueTicket(ctx.urlSecrets, 'download', {
    assetId: asset.id,
    expires,
    playbackVersion: asset.playback_version,
  });
  return `${toBaseUrl(ctx)}/api/v1/downloads/${asset.id}?ticket=${ticket}`;
}

/** A later report of the encoder still counts (contract B6). */
const failAttempt = (ctx: ProvidersContext, asset: Asset, message: string): Promise<void> =>
  reportFailure(ctx, asset, { code: 'encoder_refused', message, retryable: true });

/** Fails an attempt whose encoder never reported, although the service asked it repeatedly. */
export const failSilentAttempt = (ctx: ProvidersContext, asset: Asset): Promise<void> =>
  reportFailure(ctx, asset, {
    code: 'encoder_silent',
    message: FAILURE_CODES.encoder_silent,
    retryable: true,
  });

async function reportFailure(
  { lifecycle }: ProvidersContext,
  { id, attempt, provider }: Asset,
  failure: NonNullable<Asset['failure']>,
): Promise<void> {
  await lifecycle.applyReport(
    { source: 'service', provider, event: 'failed', attempt, failure },
    { ref: { assetId: id } },
  );
}

type RecordedJob = Pick<
  NonNullable<Awaited<ReturnType<typeof findJob>>>,
  'requests' | 'accepted_at' | 'deadline' | 'reported_at'
>;

/** `isFinal`: the service asked the encoder often enough. */
type EncoderState =
  | { readonly state: 'at_work'; readonly checkAt: Date }
  | { readonly state: 'silent'; readonly isFinal: boolean };

/** Requests without a report between them. */
const MAX_REQUESTS = 3;

export function judgeEncoderJob(
  job: RecordedJob,
  { heartbeatMs, now }: { heartbeatMs: number; now: Date },
): EncoderState {
  const heardAt = job.reported_at ?? job.accepted_at;
  const checkAt = new Date(Math.min(heardAt.getTime() + heartbeatMs, job.deadline.getTime()));
  if (checkAt > now) return { state: 'at_work', checkAt };
  return { state: 'silent', isFinal: countRequests(job) >= MAX_REQUESTS };
}

/** A report proves that the encoder has the job, so only later requests count. */
export const countRequests = ({ requests, reported_at: reportedAt }: RecordedJob): number =>
  reportedAt === null ? requests : 1;

/** Undefined when no encoder has accepted this attempt. */
export async function findEncoderState(
  { db, registry, clocks }: ProvidersContext,
  { id, attempt, provider }: Asset,
): Promise<EncoderState | undefined> {
  const job = await findJob(db, id);
  if (job?.attempt !== attempt) return undefined;
  const heartbeatMs = registry.get(provider ?? '')?.encoder?.heartbeatMs ?? DEFAULT_HEARTBEAT_MS;
  return judgeEncoderJob(job, { heartbeatMs, now: clocks.now() });
}

/** Queues the request that cancels the encoder's job, if there is one. */
export async function releaseEncoder({ db, jobs }: ProvidersContext, assetId: string): Promise<void> {
  const job = await findJob(db, assetId);
  if (!job) return;
  const { attempt } = job;
  await db.transaction((tx) => jobs.send(tx, 'cancel-encoder-job', { assetId, attempt }));
}

/** Cancels the encoder's job if the encoder returned its URL. Throws when the request must be retried. */
export async function cancelEncoderJob(
  { db, registry }: ProvidersContext,
  { assetId, attempt: cancelled }: JobPayloads['cancel-encoder-job'],
): Promise<void> {
  const job = await findJob(db, assetId);
  if (!job) return;
  const { attempt, job_url: jobUrl } = job;
  // A retry may have replaced the job while the encoder was unreachable.
  if (cancelled !== attempt) return;
  const encoder = [...registry.values()].find((provider) => provider.encoder)?.encoder;
  if (encoder && jobUrl !== null) await encoder.cancel({ assetId, attempt, jobUrl });
  await deleteJob(db, assetId, attempt);
}
