// Providers: calls to hosted providers, their webhooks, and the inbox of deliveries.
import { webhookOperation } from '@mediary/contract/operations/webhooks';
import type { Asset } from '../assets/asset.ts';
import type { JobPayloads, JobRequest } from '../jobs.ts';
import { offer } from '../platform/values/offer.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { ProvidersContext } from './context.ts';
import {
  askEncoder,
  cancelEncoderJob,
  failSilentAttempt,
  findEncoderState,
  releaseEncoder,
} from './encoder/encoder-jobs.ts';
import { explainWait, handOverSweep, queueForSettings } from './handover.ts';
import {
  canRestart,
  canRetry,
  canSign,
  canTakeUploads,
  findHostedPlayback,
  findHostedUrls,
  isHosted,
} from './hosted-playback.ts';
import {
  applyInspection,
  applyParked,
  canInspect,
  createProviderDownload,
  discardVideo,
  inspectNow,
  prepareUpload,
  protectVideo,
  removeVideo,
  restart,
} from './hosted-videos.ts';
import { inspectAll } from './inspections.ts';
import { createTusUpload, findMaxDuration, openFileUpload } from './sized-uploads.ts';
import {
  countWorkers,
  deleteStaleWorkers,
  drainWorker,
  hasWorkerFor,
  listCircuits,
  listProcesses,
  listServedProviders,
  listWorkers,
  startHeartbeat,
} from './workers.ts';
import { getProvider, type Provider } from './provider.ts';
import { type CallProvider, callProvider } from './provider-calls.ts';
import { inboxRoutes } from './webhooks/inbox.routes.ts';
import { webhookRoutes } from './webhooks/receive-webhook.routes.ts';

export type ProviderOperations = ReturnType<typeof createProviders>['operations'];

export function createProviders(outer: Omit<ProvidersContext, 'circuits'>) {
  const ctx: ProvidersContext = { ...outer, circuits: new Map() };
  const endpoints = ctx.settings.providers.map(({ module: { name, webhook } }) => ({
    provider: name,
    operation: webhookOperation(name, webhook),
  }));
  const call: CallProvider = (name, work) => callProvider(ctx, name, work);
  return {
    operations: {
      ...offer(ctx, OFFERED),
      call,
      registry: ctx.registry,
      webhookOperations: endpoints.map(({ operation }) => operation),
    },
    routes: [...webhookRoutes(ctx, endpoints), ...inboxRoutes(ctx)],
    jobs: {
      'protect-video': ({ payload }: JobRun<JobPayloads['protect-video']>) =>
        protectVideo(ctx, payload.assetId),
      'ask-encoder': ({ payload }: JobRun<JobPayloads['ask-encoder']>) => askEncoder(ctx, payload),
      'cancel-encoder-job': ({ payload }: JobRun<JobPayloads['cancel-encoder-job']>) =>
        cancelEncoderJob(ctx, payload),
    },
  };
}

/** The job that processes an uploaded asset. */
const toProcessingJob = ({ registry }: ProvidersContext, asset: Asset): JobRequest | undefined =>
  asset.provider
    ? getProvider(registry, asset.provider).startJob(asset)
    : { name: 'process-image', payload: { assetId: asset.id } };

/** True where the workers of this service encode the videos of the provider. */
const isEncodedHere = ({ registry }: ProvidersContext, { provider }: Pick<Asset, 'provider'>): boolean =>
  provider !== null && isOwnEncoder(getProvider(registry, provider));

const isOwnEncoder = ({ kind, encoder }: Provider): boolean => kind === 'encoder' && !encoder;

/** The functions that other wings call. */
const OFFERED = {
  startJob: toProcessingJob,
  failSilentAttempt,
  findEncoderState,
  releaseEncoder,
  explainWait,
  handOverSweep,
  queueForSettings,
  findHostedPlayback,
  findHostedUrls,
  isHosted,
  isEncodedHere,
  canSign,
  canTakeUploads,
  canRestart,
  canRetry,
  prepareUpload,
  applyParked,
  inspectNow,
  applyInspection,
  restart,
  removeVideo,
  discardVideo,
  protectVideo,
  createProviderDownload,
  canInspect,
  inspectAll,
  createTusUpload,
  openFileUpload,
  findMaxDuration,
  listWorkers,
  listProcesses,
  drainWorker,
  deleteStaleWorkers,
  countWorkers,
  listCircuits,
  hasWorkerFor,
  listServedProviders,
  startHeartbeat,
};
