// Providers: calls to hosted providers, their webhooks, and the inbox of deliveries.
import { webhookOperation } from '@mediary/contract/operations/webhooks';
import type { AppContext } from '../app-context.ts';
import type { Asset } from '../assets/asset.ts';
import type { JobPayloads, JobRequest } from '../jobs.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import * as encoderOperations from './encoder-jobs.ts';
import * as handoverOperations from './handover.ts';
import * as playbackOperations from './hosted-playback.ts';
import * as videoOperations from './hosted-videos.ts';
import * as inboxOperations from './inbox.ts';
import { inboxRoutes } from './inbox.routes.ts';
import * as inspectionOperations from './inspections.ts';
import type { Providers } from './provider.ts';
import { getProvider } from './provider.ts';
import { type CallNeeds, createProviderCaller } from './provider-calls.ts';
import * as sizedOperations from './sized-uploads.ts';
import { receiveWebhook } from './webhooks.ts';
import { webhookRoutes } from './webhooks.routes.ts';
import * as workerOperations from './workers.ts';

type Needs = AppContext & { readonly lifecycle: Lifecycle; readonly asOperator: AsOperator };

export type ProviderOperations = ReturnType<typeof createProviders>['operations'];

export function createProviders(context: Needs) {
  const { db, providers, urlSecrets, config, now, lifecycle, asOperator } = context;
  const circuits: CallNeeds['circuits'] = new Map();
  const call = createProviderCaller({ providers, circuits, now });
  const workers = bind(context, workerOperations);
  const handovers = bind({ ...context, ...lifecycle, ...workers }, handoverOperations);
  const needs = {
    ...lifecycle,
    ...handovers,
    db,
    providers,
    call,
    urlSecrets,
    maxUploadBytes: config.maxUploadBytes,
    now,
  };
  const videos = bind(needs, videoOperations);
  const callbackBaseUrl = () => config.encoderCallbackUrl ?? context.publicBaseUrl();
  const encoders = bind({ ...context, ...lifecycle, callbackBaseUrl }, encoderOperations);
  const endpoints = config.providers.map(({ module: { name, webhook } }) => ({
    provider: name,
    operation: webhookOperation(name, webhook),
  }));
  return {
    operations: {
      ...videos,
      ...bind(needs, { ...playbackOperations, ...sizedOperations }),
      ...bind({ call }, inspectionOperations),
      ...workers,
      ...handovers,
      ...encoders,
      call,
      circuits,
      registry: providers,
      startJob: startJob(providers),
      webhookOperations: endpoints.map(({ operation }) => operation),
    },
    routes: [
      ...webhookRoutes(bind(needs, { receiveWebhook }).receiveWebhook, endpoints),
      ...inboxRoutes(bind(needs, inboxOperations), asOperator),
    ],
    jobs: {
      'protect-video': ({ payload }: JobRun<JobPayloads['protect-video']>) =>
        videos.protectVideo(payload.assetId),
      'ask-encoder': ({ payload }: JobRun<JobPayloads['ask-encoder']>) => encoders.askEncoder(payload),
      'cancel-encoder-job': ({ payload }: JobRun<JobPayloads['cancel-encoder-job']>) =>
        encoders.cancelEncoderJob(payload),
    },
  };
}

/** The job that processes an uploaded asset. */
const startJob =
  (providers: Providers) =>
  (asset: Asset): JobRequest | undefined =>
    asset.provider
      ? getProvider(providers, asset.provider).startJob(asset)
      : { name: 'process-image', payload: { assetId: asset.id } };
