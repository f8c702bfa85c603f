// The settings (contract B9): read and validated once; one message reports every problem.
import type { ProviderName } from './assets/asset.ts';
import type { TokenIssuer } from './auth/issuer-token.ts';
import type { Secret } from './auth/secret.ts';
import {
  type DecoderLimits,
  type ImportLimits,
  type OwnerLimits,
  type StreamLimits,
  readDecoderLimits,
  readAllowUnsigned,
  readEncodeLimits,
  readMediaTypes,
  readProcess,
  readOrigins,
  readImportLimits,
  readOwnerLimits,
  readStorageUrl,
  readStreamLimits,
  readShutdown,
  readUploadSizes,
} from './config-readers.ts';
import { type PlaybackDelivery, readPlaybackDelivery } from './config-delivery.ts';
import { type EndpointSettings, readEndpointSettings } from './config-endpoints.ts';
import { readRetention, type Retention } from './config-retention.ts';
import { type MediaSettings, readVideoSettings } from './config-video.ts';
import {
  healthPortWarnings,
  OWN_SECRETS,
  readSecrets,
  settingWarnings,
  type UrlSecrets,
} from './config-secrets.ts';
import type { EncodeLimits } from './encoding/plan/ladder/encode-cost.ts';
import type { MediaType } from './media/media-type.ts';
import {
  type OutboundPurpose,
  outboundWarnings,
  readOutboundAllowPrivate,
} from './platform/outbound/outbound-setting.ts';
import {
  type RateLimit,
  type TrustedProxies,
  type Environment,
  type Settings,
  readRate,
  readTrustProxy,
  createSettings,
} from './platform/settings.ts';
import { unknownSettingWarnings } from './platform/unknown-settings.ts';
import type { RegisteredProvider } from './providers/provider-module.ts';
import { type ConfiguredProviders, configureProviders, PROVIDER_MODULES } from './providers/registry.ts';
import type { S3Location } from './storage/storage-url.ts';

type Role = 'all' | 'api' | 'worker';

type SharedSettings = MediaSettings & Retention;

export type Config = SharedSettings & {
  readonly role: Role;
  readonly port: number;
  readonly host: string;
  /** Port of the health checks of a worker; undefined: none. */
  readonly healthPort: number | undefined;
  /** Absolute path; contains the embedded database, the disk store, temporary files and generated secrets. */
  readonly dataDir: string;
  /** Without a trailing slash; undefined: the address of the listener. */
  readonly publicBaseUrl: string | undefined;
  readonly encoderCallbackUrl: string | undefined;
  /** Undefined: the embedded database. */
  readonly databaseUrl: string | undefined;
  /** A `file:` URL with an absolute path; undefined: a folder in `dataDir`, or the bucket of `s3`. */
  readonly storageUrl: string | undefined;
  /** The bucket of an `s3:` URL. */
  readonly s3: S3Location | undefined;
  readonly delivery: PlaybackDelivery;
  readonly tokenSecrets: readonly Secret[];
  /** The identity provider whose access tokens are accepted too; undefined: none. */
  readonly issuer: TokenIssuer | undefined;
  readonly serviceKeys: readonly Secret[];
  readonly operatorKeys: readonly Secret[];
  /** Without a current one, the service generates one and stores it in the database. */
  readonly urlSecrets: UrlSecrets;
  readonly videoProvider: ProviderName;
  readonly allowUnsigned: readonly ProviderName[];
  readonly providers: ConfiguredProviders;
  readonly ffmpegPath: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly mediaTypes: readonly MediaType[];
  /** Uploads are refused while a disk has less free space. */
  readonly minFreeBytes: number;
  /** Bytes of all stored variants of one asset. */
  readonly maxVariantBytes: number;
  /** A variant that could not be rendered is retried after this time. */
  readonly variantRetrySeconds: number;
  readonly encodeLimits: EncodeLimits;
  readonly importLimits: ImportLimits;
  readonly streamLimits: StreamLimits;
  /** Address space of one ffmpeg process. */
  readonly encoderMemoryBytes: number;
  readonly decoders: DecoderLimits;
  /** User and group id of decoder processes when the service runs as root. */
  readonly sandboxUid: number;
  /** `required`: the service does not start if a part of the sandbox is missing. */
  readonly sandbox: 'available' | 'required';
  /** Maximum number of open connections of the HTTP listener. */
  readonly maxConnections: number;
  /** Whether /docs is served. */
  readonly docs: boolean;
  /** Time between the signal to stop and the end of the listener; /readyz is 503 meanwhile. */
  readonly drainSeconds: number;
  /** Requests that are still in progress then are cut off. */
  readonly stopTimeoutSeconds: number;
  readonly start: ReturnType<typeof readProcess>['start'];
  /** Limits of each owner; undefined: no limit. */
  readonly ownerLimits: OwnerLimits;
  /** Undefined: off. */
  readonly ratePerOwner: RateLimit | undefined;
  readonly ratePerAddress: RateLimit | undefined;
  readonly trustProxy: TrustedProxies;
  readonly webhookEndpoints: EndpointSettings;
  /** Outbound requests that may reach private addresses. */
  readonly outboundAllowPrivate: readonly OutboundPurpose[];
  /** Problems that do not stop the start. */
  readonly warnings: readonly string[];
};

/** Folder in the working directory. */
export const DEFAULT_DATA_DIR = '.mediary';

const DAY_S = 86_400;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Throws with one message that names every problem. `absolute` resolves relative paths. */
export function readConfig(
  environment: Environment,
  absolute: (path: string) => string,
  modules: readonly RegisteredProvider[] = PROVIDER_MODULES,
): Config {
  const settings = createSettings(environment);
  const config = read(settings, absolute, modules);
  requireForRole(settings, config);
  const unknown = unknownSettingWarnings(environment, {
    names: settings.names,
    prefixes: ['MEDIARY_', ...modules.map(({ name }) => `${name.toUpperCase()}_`)],
  });
  if (settings.problems.length > 0)
    throw new Error(`Invalid settings:\n${settings.problems.map((problem) => `  - ${problem}`).join('\n')}`);
  const outbound = outboundWarnings(config.outboundAllowPrivate);
  return {
    ...config,
    warnings: [...config.warnings, ...healthPortWarnings(config), ...outbound, ...unknown],
  };
}

function read(
  settings: Settings,
  absolute: (path: string) => string,
  modules: readonly RegisteredProvider[],
): Config {
  return {
    ...readProcess(settings),
    ...readShutdown(settings),
    ...readStorage(settings, absolute),
    ...readSecrets(settings),
    ...readProviders(settings, modules),
    ...readMedia(settings),
    ...readRetention(settings),
    ...readDecoding(settings),
    ...readLimits(settings),
  };
}

function readStorage(settings: Settings, absolute: (path: string) => string) {
  const { text, integer } = settings;
  const storage = readStorageUrl(settings);
  return {
    dataDir: absolute(text('DATA_DIR') ?? DEFAULT_DATA_DIR),
    databaseUrl: text('DATABASE_URL'),
    ...storage,
    delivery: readPlaybackDelivery(settings, storage.s3),
    minFreeBytes: integer('MIN_FREE_BYTES', { fallback: 64 * MIB, min: 0, max: Number.MAX_SAFE_INTEGER }),
  };
}

function readProviders(settings: Settings, modules: readonly RegisteredProvider[]) {
  const providers = configureProviders(settings, modules);
  const allowUnsigned = readAllowUnsigned(settings, modules);
  const names = modules.map(({ name }) => name);
  return {
    videoProvider: settings.oneOf('VIDEO_PROVIDER', names, 'onprem'),
    allowUnsigned,
    providers,
    warnings: settingWarnings(settings, modules, allowUnsigned),
  };
}

const readMedia = (settings: Settings) => ({
  mediaTypes: readMediaTypes(settings),
  ...readUploadSizes(settings),
  maxVariantBytes: settings.integer('MAX_VARIANT_BYTES', { fallback: 128 * MIB, min: 0, max: 1024 * GIB }),
  variantRetrySeconds: settings.integer('VARIANT_RETRY_S', { fallback: 900, min: 1, max: 30 * DAY_S }),
  encodeLimits: readEncodeLimits(settings),
  ...readVideoSettings(settings),
  importLimits: readImportLimits(settings),
});

/** The processes that decode untrusted files. */
const readDecoding = (settings: Settings) => ({
  ffmpegPath: settings.text('FFMPEG_PATH'),
  encoderMemoryBytes: settings.integer('ENCODER_MEMORY_BYTES', {
    fallback: 3 * GIB,
    min: GIB / 2,
    max: 1024 * GIB,
  }),
  decoders: readDecoderLimits(settings),
  sandboxUid: settings.integer('SANDBOX_UID', { fallback: 65_533, min: 1, max: 2 ** 31 }),
  sandbox: settings.oneOf('SANDBOX', ['available', 'required'], 'available'),
});

const readLimits = (settings: Settings) => ({
  corsOrigins: readOrigins(settings),
  streamLimits: readStreamLimits(settings),
  ownerLimits: readOwnerLimits(settings),
  ratePerOwner: readRate(settings, 'RATE_LIMIT_PER_OWNER'),
  ratePerAddress: readRate(settings, 'RATE_LIMIT_PER_ADDRESS'),
  trustProxy: readTrustProxy(settings),
  webhookEndpoints: readEndpointSettings(settings),
  outboundAllowPrivate: readOutboundAllowPrivate(settings),
});

function requireForRole({ problems }: Settings, config: Config): void {
  if (config.role === 'worker') {
    // A worker has no listener that could receive the reports of its encoder.
    if (!config.encoderCallbackUrl && !config.publicBaseUrl)
      problems.push('ENCODER_CALLBACK_URL must be set where MEDIARY_ROLE is worker');
    return;
  }
  const given = {
    ACCESS_TOKEN_SECRET: config.tokenSecrets,
    SERVICE_API_KEY: config.serviceKeys,
    OPERATOR_KEY: config.operatorKeys,
  };
  for (const name of OWN_SECRETS) {
    if (given[name].length === 0) problems.push(`${name} must be set`);
  }
}
