// @mediary/testing: the real service for the tests of an application.
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMediary, type EventMessage, type Mediary, type PublishedEventType } from '@mediary/client';
import { type ChildProgram, startChildProgram } from './child-program.ts';
import { leaseDatabaseHost } from './database-host.ts';
import { type Duration, toMilliseconds } from './duration.ts';
import {
  DEFAULT_FAILURE,
  type EncoderFault,
  type EncodingFailure,
  startInstantEncoder,
} from './instant-encoder.ts';
import { prepareServiceProgram } from './service-bundle.ts';
import type { ServiceHostFunctions } from './service-host.program.ts';
import { startWebhookInbox, type WebhookInbox, type WebhookLoss, type Webhooks } from './webhook-inbox.ts';
import { describeTimeout } from './wait-timeout.ts';

export type StartOptions = {
  /** Where the application receives webhooks. See also `webhooks.forwardTo`. */
  forwardTo?: string | undefined;
  /** `ffmpeg`: the encoder of the service, which takes seconds. Default: `instant`. */
  encoder?: 'instant' | 'ffmpeg' | undefined;
  /** Settings of the service by name (docs/settings.md), such as `{ LOG_LEVEL: 'warn' }`. */
  settings?: Readonly<Record<string, string>> | undefined;
};

export type WaitForOptions = {
  assetId?: string | undefined;
  /** Default 4000, so that the error of this wait comes before that of a test of five seconds. */
  timeoutMs?: number | undefined;
};

/** What goes wrong next. Each call counts once, for the next delivery or the next video. */
export type Faults = {
  /** A gateway before the application answers the next delivery with 504. The service retries it. */
  loseWebhook(loss?: WebhookLoss): void;
  /** The encoder takes the next video and dies. The service asks again after five minutes of silence. */
  encoderCrashes(): void;
  /** The encoder reports that the next video cannot be encoded. */
  encodingFails(failure?: Partial<EncodingFailure>): void;
  /** The encoder reports the next video as ready, and then as failed. The service keeps it ready. */
  failAfterReady(): void;
  /** Takes back what has not happened yet. */
  clear(): void;
};

export type Clock = {
  /** The time of the service. */
  now(): Date;
  /** Moves the clocks of the service and of its database, and runs what has become due. */
  advance(duration: Duration): Promise<void>;
};

export type TestMediary = {
  /** The base URL of the service, as clients take it. */
  readonly url: string;
  readonly serviceKey: string;
  readonly operatorKey: string;
  /** Signs access tokens (`signAccessToken` of `@mediary/client/server`). */
  readonly accessTokenSecret: string;
  /** A client of a back end for one owner. */
  client(ownerUserId: string): Mediary;
  readonly webhooks: Webhooks;
  /** Waits for the next event of a type that the application has accepted. Each call returns another. */
  waitFor<T extends PublishedEventType>(
    type: T,
    options?: WaitForOptions,
  ): Promise<Extract<EventMessage, { type: T }>>;
  readonly faults: Faults;
  readonly clock: Clock;
  /** Stops the service and removes all of its data. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const WAIT_MS = 4000;
/** The first retry comes after one second instead of five; the others are those of the service. */
const WEBHOOK_RETRIES_S = '1,300,1800,7200,18000,36000,50400,72000,86400';
const MIN_NODE = 24;

/** A real video of two seconds (13 kB), to upload it. */
export async function readSampleVideo(): Promise<File> {
  const bytes = await readFile(join(import.meta.dirname, '../stream/sample.mp4'));
  return new File([bytes], 'sample.mp4', { type: 'video/mp4' });
}

/**
 * Starts the service with a database and a folder of its own. They go with `stop`, and with the end of the
 * process of the tests.
 *
 * @example
 * await using media = await startMediary();
 * const asset = await media.client('ann').media.upload(await readSampleVideo());
 * await media.waitFor('asset.ready', { assetId: asset.id });
 */
export async function startMediary(options: StartOptions = {}): Promise<TestMediary> {
  if (Number(process.versions.node.split('.')[0]) < MIN_NODE)
    throw new Error(`startMediary needs Node ${MIN_NODE} or newer. This is ${process.version}`);
  // Not `await using`, which an older Node could not read as far as the message above.
  const opened = new AsyncDisposableStack();
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= opened.disposeAsync());
  try {
    return { ...(await openMediary(options, opened)), stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `opened` gets what stops each part. */
async function openMediary(options: StartOptions, opened: AsyncDisposableStack): Promise<OpenedMediary> {
  const faults: EncoderFault[] = [];
  const inbox = await startWebhookInbox();
  opened.defer(inbox.stop);
  const secrets = createSecrets();
  const encoder = await startInstantEncoder({
    secret: secrets.ONPREM_WEBHOOK_SECRET,
    takeFault: () => faults.shift(),
  });
  opened.defer(encoder.stop);
  const database = leaseDatabaseHost();
  opened.defer(database.release);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // It loads its code while the database starts.
  const service = startChildProgram<ServiceHostFunctions>(await prepareServiceProgram(), 'the service');
  const data = await database.host.call('createDatabase', { name }).catch(async (error: unknown) => {
    await service.end();
    throw error;
  });
  opened.defer(() => database.host.call('dropDatabase', { name }));
  opened.defer(service.end);
  const isInstant = (options.encoder ?? 'instant') === 'instant';
  const encoderSettings = isInstant ? { ONPREM_ENCODER_URL: `${encoder.url}/jobs` } : {};
  const settings = { ...BASE_SETTINGS, ...secrets, ...encoderSettings, ...data, ...options.settings };
  const { address } = await service.call('start', { settings });
  const media = describe({ inbox, service, faults, isInstant, settings, address });
  await connectInbox(media, inbox);
  if (options.forwardTo !== undefined) inbox.webhooks.forwardTo(options.forwardTo);
  return media;
}

const BASE_SETTINGS = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  CONSOLE: 'off',
  STOP_TIMEOUT_S: '0',
  // The endpoints of an application under test are on this machine.
  OUTBOUND_ALLOW_PRIVATE: 'webhooks',
  WEBHOOK_ENDPOINT_RETRIES_S: WEBHOOK_RETRIES_S,
};

const createSecret = (): string => randomBytes(32).toString('hex');
const createSecrets = () => ({
  ACCESS_TOKEN_SECRET: createSecret(),
  SERVICE_API_KEY: createSecret(),
  OPERATOR_KEY: createSecret(),
  ONPREM_WEBHOOK_SECRET: createSecret(),
});

type StartedParts = {
  readonly inbox: WebhookInbox;
  readonly service: ChildProgram<ServiceHostFunctions>;
  readonly faults: EncoderFault[];
  readonly isInstant: boolean;
  readonly settings: ReturnType<typeof createSecrets>;
  readonly address: string;
};
type OpenedMediary = Omit<TestMediary, 'stop' | typeof Symbol.asyncDispose>;

function describe({ inbox, service, faults, isInstant, settings, address }: StartedParts): OpenedMediary {
  const serviceKey = settings.SERVICE_API_KEY;
  const client = createMediary({ baseUrl: address, serviceKey });
  let aheadMs = 0;
  return {
    url: address,
    serviceKey,
    operatorKey: settings.OPERATOR_KEY,
    accessTokenSecret: settings.ACCESS_TOKEN_SECRET,
    client: (ownerUserId) => client.forOwner(ownerUserId),
    webhooks: inbox.webhooks,
    waitFor: async <T extends PublishedEventType>(type: T, options: WaitForOptions = {}) => {
      const { assetId, timeoutMs = WAIT_MS } = options;
      const ending = new AbortController();
      // Unlike the timer of AbortSignal.timeout, this one keeps the process of the tests alive.
      const timer = setTimeout(() => ending.abort(), timeoutMs);
      const event = await inbox
        .take({ type, assetId }, ending.signal)
        .catch(async (cause: unknown) => {
          const wait = { type, assetId, timeoutMs, deliveries: inbox.deliveries };
          throw new Error(await describeTimeout(client, wait), { cause });
        })
        .finally(() => clearTimeout(timer));
      return event as Extract<EventMessage, { type: T }>;
    },
    faults: createFaults(inbox, faults, isInstant),
    clock: {
      now: () => new Date(Date.now() + aheadMs),
      advance: async (duration) => {
        const ms = toMilliseconds(duration);
        await service.call('advance', { ms });
        aheadMs += ms;
      },
    },
  };
}

function createFaults(inbox: WebhookInbox, faults: EncoderFault[], isInstant: boolean): Faults {
  const add = (fault: EncoderFault): void => {
    if (!isInstant) throw new Error('Faults of the encoder need startMediary({ encoder: "instant" })');
    faults.push(fault);
  };
  return {
    loseWebhook: (loss = {}) => inbox.lose(loss),
    encoderCrashes: () => add({ kind: 'crash' }),
    encodingFails: (failure) => add({ kind: 'fail', failure: { ...DEFAULT_FAILURE, ...failure } }),
    failAfterReady: () => add({ kind: 'fail_after_ready' }),
    clear: () => {
      faults.length = 0;
      inbox.clearLosses();
    },
  };
}

async function connectInbox({ url, serviceKey }: OpenedMediary, inbox: WebhookInbox): Promise<void> {
  const { webhookEndpoints } = createMediary({ baseUrl: url, serviceKey });
  const { secret } = await webhookEndpoints.create({ url: inbox.url });
  inbox.expect(secret);
}
