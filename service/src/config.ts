// The settings (contract B9): read once, checked all at once, every problem told in one message.
import type { ProviderName } from './assets/asset.ts';
import { type Secret, toSecret } from './auth/secret.ts';
import {
  type DecoderLimits,
  type OwnerLimits,
  readDecoderLimits,
  readEncodeConcurrency,
  readEncodeLimits,
  readOwnerLimits,
} from './config-limits.ts';
import { OWN_SECRETS, settingWarnings } from './config-secrets.ts';
import type { EncodeLimits } from './encoding/plan/encode-cost.ts';
import { type MediaType, MEDIA_TYPES, selectMediaTypes } from './media/media-type.ts';
import { type RateLimit, readRate, readTrustProxy, type TrustedProxies } from './platform/rate-setting.ts';
import { type Environment, createSettings, type Settings } from './platform/settings.ts';
import { unknownSettingWarnings } from './platform/unknown-settings.ts';
import type { RegisteredProvider } from './providers/provider-module.ts';
import { type ConfiguredProviders, configureProviders, PROVIDER_MODULES } from './providers/registry.ts';

type Role = 'all' | 'api' | 'worker';

export type Config = {
  readonly role: Role;
  readonly port: number;
  readonly host: string;
  /** Absolute; holds the embedded database, the disk store, scratch and kept secrets. */
  readonly dataDir: string;
  /** Without a slash at its end; undefined: the listener's own address. */
  readonly publicBaseUrl: string | undefined;
  readonly encoderCallbackUrl: string | undefined;
  /** undefined: the embedded database. */
  readonly databaseUrl: string | undefined;
  /** `file:` and an absolute path. */
  readonly storageUrl: string | undefined;
  readonly tokenSecrets: readonly Secret[];
  readonly serviceKeys: readonly Secret[];
  readonly operatorKeys: readonly Secret[];
  /** Empty: one is made and kept in the database. */
  readonly urlSecrets: readonly Secret[];
  readonly videoProvider: ProviderName;
  readonly allowUnsigned: readonly ProviderName[];
  readonly providers: ConfiguredProviders;
  readonly ffmpegPath: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly mediaTypes: readonly MediaType[];
  readonly maxUploadBytes: number;
  /** Uploads are refused while a disk has less free space. */
  readonly minFreeBytes: number;
  /** Of all stored variants of one asset. */
  readonly maxVariantBytes: number;
  /** A variant that could not be rendered is retried after this time. */
  readonly variantRetrySeconds: number;
  readonly encodeLimits: EncodeLimits;
  /** Videos that this process encodes at once; undefined: by the number of its cores. */
  readonly encodeConcurrency: number | undefined;
  readonly uploadTtlSeconds: number;
  readonly playbackTokenTtlSeconds: number;
  readonly trashDays: number;
  /** Of one run of the video engine. */
  readonly encoderMemoryBytes: number;
  readonly decoders: DecoderLimits;
  /** Who decoders are where the service runs as root; user and group id. */
  readonly sandboxUid: number;
  /** Whether the service may start where the sandbox is not complete. */
  readonly sandbox: 'available' | 'required';
  readonly webhookRetentionDays: number;
  /** Of the HTTP listener, open at once. */
  readonly maxConnections: number;
  /** Whether /docs is served. */
  readonly docs: boolean;
  readonly logLevel: string;
  /** Of each owner; undefined: no limit. */
  readonly ownerLimits: OwnerLimits;
  /** Undefined: off. */
  readonly ratePerOwner: RateLimit | undefined;
  readonly ratePerAddress: RateLimit | undefined;
  readonly trustProxy: TrustedProxies;
  /** Weaknesses that do not stop the start. */
  readonly warnings: readonly string[];
};

const DAY = 86_400;
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
    throw new Error(
      `The settings cannot be used:\n${settings.problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
  return { ...config, warnings: [...config.warnings, ...unknown] };
}

function read(
  settings: Settings,
  absolute: (path: string) => string,
  modules: readonly RegisteredProvider[],
): Config {
  const { text, integer } = settings;
  const providers = configureProviders(settings, modules);
  const allowUnsigned = readAllowUnsigned(settings, modules);
  return {
    role: settings.oneOf('MEDIARY_ROLE', ['all', 'api', 'worker'], 'all'),
    port: integer('PORT', { fallback: 8080, min: 0, max: 65_535 }),
    host: text('HOST') ?? '127.0.0.1',
    dataDir: absolute(text('DATA_DIR') ?? '.mediary'),
    publicBaseUrl: settings.url('PUBLIC_BASE_URL'),
    encoderCallbackUrl: settings.url('ENCODER_CALLBACK_URL'),
    databaseUrl: text('DATABASE_URL'),
    storageUrl: readStorageUrl(settings),
    tokenSecrets: settings.rotating('ACCESS_TOKEN_SECRET').map(toSecret),
    serviceKeys: settings.rotating('SERVICE_API_KEY').map(toSecret),
    operatorKeys: settings.rotating('OPERATOR_KEY').map(toSecret),
    urlSecrets: settings.rotating('URL_SIGNING_SECRET').map(toSecret),
    videoProvider: settings.oneOf(
      'VIDEO_PROVIDER',
      modules.map(({ name }) => name),
      'onprem',
    ),
    allowUnsigned,
    providers,
    ffmpegPath: text('FFMPEG_PATH'),
    corsOrigins: readOrigins(settings),
    mediaTypes: readMediaTypes(settings),
    maxUploadBytes: integer('MAX_UPLOAD_BYTES', { fallback: 10 * GIB, min: 1, max: Number.MAX_SAFE_INTEGER }),
    minFreeBytes: integer('MIN_FREE_BYTES', { fallback: 64 * MIB, min: 0, max: Number.MAX_SAFE_INTEGER }),
    maxVariantBytes: integer('MAX_VARIANT_BYTES', { fallback: 128 * MIB, min: 0, max: 1024 * GIB }),
    variantRetrySeconds: integer('VARIANT_RETRY_S', { fallback: 900, min: 1, max: 30 * DAY }),
    encodeLimits: readEncodeLimits(settings),
    encodeConcurrency: readEncodeConcurrency(settings),
    uploadTtlSeconds: integer('UPLOAD_TTL_S', { fallback: DAY, min: 1, max: 365 * DAY }),
    playbackTokenTtlSeconds: integer('PLAYBACK_TOKEN_TTL_S', { fallback: 21_600, min: 1, max: 365 * DAY }),
    webhookRetentionDays: integer('WEBHOOK_RETENTION_DAYS', { fallback: 30, min: 7, max: 3650 }),
    trashDays: integer('TRASH_DAYS', { fallback: 30, min: 0, max: 3650 }),
    maxConnections: integer('MAX_CONNECTIONS', { fallback: 4096, min: 1, max: 1_000_000 }),
    docs: settings.oneOf('DOCS', ['on', 'off'], 'on') === 'on',
    encoderMemoryBytes: integer('ENCODER_MEMORY_BYTES', { fallback: 3 * GIB, min: GIB / 2, max: 1024 * GIB }),
    decoders: readDecoderLimits(settings),
    sandboxUid: integer('SANDBOX_UID', { fallback: 65_533, min: 1, max: 2 ** 31 }),
    sandbox: settings.oneOf('SANDBOX', ['available', 'required'], 'available'),
    logLevel: settings.oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
    ownerLimits: readOwnerLimits(settings),
    ratePerOwner: readRate(settings, 'RATE_LIMIT_PER_OWNER'),
    ratePerAddress: readRate(settings, 'RATE_LIMIT_PER_ADDRESS'),
    trustProxy: readTrustProxy(settings),
    warnings: settingWarnings(settings, modules, allowUnsigned),
  };
}

function readAllowUnsigned(
  settings: Settings,
  modules: readonly RegisteredProvider[],
): readonly ProviderName[] {
  const known = modules.filter(({ canAllowUnsigned }) => canAllowUnsigned).map(({ name }) => name);
  const named = settings.list('WEBHOOKS_ALLOW_UNSIGNED');
  if (named.some((name) => !known.includes(name)))
    settings.problems.push(`WEBHOOKS_ALLOW_UNSIGNED may name ${known.join(' and ')} only`);
  return named.filter((name) => known.includes(name));
}

function readOrigins({ list, problems }: Settings): readonly string[] {
  const origins = list('CORS_ORIGINS');
  for (const origin of origins)
    if (origin !== '*' && !(ORIGIN.test(origin) && URL.canParse(origin)))
      problems.push(
        `CORS_ORIGINS: "${origin}" is not an origin. Give scheme and host without a path, such as https://app.example.com, or *`,
      );
  return origins;
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/i;

function readStorageUrl({ text, problems }: Settings): string | undefined {
  const url = text('STORAGE_URL');
  if (url !== undefined && !url.startsWith('file:')) problems.push('STORAGE_URL must be a file: URL');
  return url;
}

function readMediaTypes({ list, problems }: Settings): readonly MediaType[] {
  const named = list('ALLOWED_MIME_TYPES');
  if (named.length === 0) return MEDIA_TYPES;
  const types = selectMediaTypes(named);
  if (types.length === 0) problems.push('ALLOWED_MIME_TYPES names no type that is allowed at all');
  return types;
}

function requireForRole({ problems }: Settings, config: Config): void {
  if (config.role === 'worker') {
    // It has no listener of its own that its encoder could report to.
    if (!config.encoderCallbackUrl && !config.publicBaseUrl)
      problems.push('ENCODER_CALLBACK_URL must be set for a worker');
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
