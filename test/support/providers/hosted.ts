// The service beside simulated video hosts, a clock that can be moved, and clients that send bytes straight
// to a host.
import { type Simulators, type SimulatorsOptions, startSimulators } from '../../../simulators/simulators.ts';
import { Upload } from 'tus-js-client';
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import { type AssetJson, type Started, VIDEO } from '../media.ts';
import { IS_BY_SDK } from '../uploads/sdk-calls.ts';
import { uploadBySdk } from '../uploads/sdk-uploads.ts';
import { type Answer, asUser, call, eventually, startTestService, type TestService } from '../service.ts';

export type HostedName = 'cdnhost' | 'edgehost';
export const HOSTED: readonly HostedName[] = ['cdnhost', 'edgehost'];

export type Hosts = {
  readonly service: TestService;
  readonly sims: Simulators;
  /** Moves the service's clock, and reconciles what is overdue by then. */
  reconcileIn(minutes: number): Promise<void>;
  stop(): Promise<void>;
};

export async function startHosts(
  options: SimulatorsOptions = {},
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<Hosts> {
  let offset = 0;
  const sims = await startSimulators({ stepMs: 20, ...options });
  const service = await startTestService(
    { ...sims.environment, EDGEHOST_WEBHOOK_TOLERANCE_S: '0', ...environment },
    { now: () => new Date(Date.now() + offset) },
  );
  sims.sendWebhooksTo(service.address);
  return {
    service,
    sims,
    async reconcileIn(minutes) {
      offset += minutes * 60_000;
      const { jobs, db } = service.adapters;
      await db.transaction((tx) => jobs.send(tx, 'reconcile', {}));
      await eventually(
        () => jobs.hasOpenJob('reconcile', {}),
        (isOpen) => !isOpen,
      );
    },
    stop: async () => {
      await service.stop();
      await sims.stop();
    },
  };
}

export const askUpload = (
  service: TestService,
  provider: HostedName,
  fields: object = {},
): Promise<Answer<Started>> =>
  call<Started>(service, 'POST /media/upload-url?expand=asset', {
    headers: asUser('ann'),
    json: { ...VIDEO, size_bytes: 5000, provider, ...fields },
  });

/** Sends the bytes as the target says, as a browser would. */
export async function sendBytes(upload: object | null, bytes: Uint8Array): Promise<void> {
  const target = upload as UploadTarget;
  if (target.protocol === 'put' || target.protocol === 's3-multipart')
    throw new Error(`a hosted provider takes no ${target.protocol}`);
  return target.protocol === 'form' ? sendForm(target, bytes) : sendByTus(target, bytes);
}

type Target<P extends UploadTarget['protocol']> = Extract<UploadTarget, { readonly protocol: P }>;

async function sendForm({ url, headers, fields = {} }: Target<'form'>, bytes: Uint8Array): Promise<void> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([Buffer.from(bytes)], { type: 'video/mp4' }), 'clip.mp4');
  await expectOk(fetch(url, { method: 'POST', headers, body: form }));
}

/** A stock client that knows nothing but the target. */
const sendByTus = (target: Target<'tus'>, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const { method, url, headers, fields, chunk_size_bytes: chunkSize } = target;
    new Upload(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), {
      ...(method === 'POST' ? { endpoint: url } : { uploadUrl: url }),
      headers,
      metadata: fields,
      ...(chunkSize !== undefined && { chunkSize }),
      retryDelays: null,
      onSuccess: () => resolve(),
      onError: reject,
    }).start();
  });

async function expectOk(answering: Promise<Response>): Promise<Response> {
  const answer = await answering;
  if (!answer.ok) throw new Error(`the host answered ${answer.status}: ${await answer.text()}`);
  return answer;
}

type TimelineJson = {
  readonly items: readonly {
    type: string;
    source: string;
    sentence: string;
    details: Record<string, unknown>;
  }[];
};

export const timelineOf = async (service: TestService, id: string): Promise<TimelineJson['items']> =>
  (await call<TimelineJson>(service, `GET /media/${id}/timeline`, { headers: asUser('ann') })).body.data
    .items;

/** Open, send, complete: until the service follows the host. */
export async function uploadTo(
  service: TestService,
  provider: HostedName,
  bytes: Uint8Array,
): Promise<AssetJson> {
  if (IS_BY_SDK) return uploadBySdkTo(service, provider, bytes);
  const opened = await askUpload(service, provider, { size_bytes: bytes.length });
  if (opened.status !== 200) throw new Error(JSON.stringify(opened.body));
  await sendBytes(opened.body.data.upload, bytes);
  return completeArrived(service, opened.body.data.asset_id);
}

async function uploadBySdkTo(
  service: TestService,
  provider: HostedName,
  bytes: Uint8Array,
): Promise<AssetJson> {
  const uploaded = await uploadBySdk(service, asUser('ann'), {
    file: new Blob([Buffer.from(bytes)]),
    fields: { ...VIDEO, provider },
    options: { maxRetries: 4 },
  });
  const completed = uploaded?.completed as Answer<AssetJson> | undefined;
  if (completed?.status !== 200) throw new Error(JSON.stringify(completed?.body));
  return completed.body.data;
}

/** The host takes a moment to see that the last byte has arrived. */
export async function completeArrived(service: TestService, id: string): Promise<AssetJson> {
  const completed = await eventually(
    () => call<AssetJson>(service, `POST /media/${id}/complete`, { headers: asUser('ann') }),
    ({ body }) => body.error?.details?.['reason'] !== 'not_uploaded',
  );
  if (completed.status !== 200) throw new Error(JSON.stringify(completed.body));
  return completed.body.data;
}
