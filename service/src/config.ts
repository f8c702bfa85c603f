// The settings (contract B9): read once, checked all at once, every problem told in one message.
import type { ProviderName } from './assets/asset.ts';
import { type Secret, secret } from './auth/secret.ts';
import { type MediaType, MEDIA_TYPES, narrowed } from './media/media-type.ts';
import { type Environment, readSettings, type Settings } from './platform/settings.ts';
import type { RegisteredProvider } from './providers/provider-module.ts';
import { type ConfiguredProviders, configureProviders, PROVIDER_MODULES } from './providers/registry.ts';

export type Role = 'all' | 'api' | 'worker';

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
  /** Of all frames of a picture together. */
  readonly maxImagePixels: number;
  readonly uploadTtlSeconds: number;
  readonly playbackTokenTtlSeconds: number;
  readonly trashDays: number;
  readonly webhookRetentionDays: number;
  readonly logLevel: string;
  /** Weaknesses that do not stop the start. */
  readonly warnings: readonly string[];
};

/** Secrets that a laptop's service makes for itself, and that any other must be given. */
export const OWN_SECRETS = ['ACCESS_TOKEN_SECRET', 'SERVICE_API_KEY', 'OPERATOR_KEY'] as const;

const DAY = 86_400;
const GIB = 1024 ** 3;

/** Throws with one message that names every problem. `absolute` resolves relative paths. */
export function readConfig(
  environment: Environment,
  absolute: (path: string) => string,
  modules: readonly RegisteredProvider[] = PROVIDER_MODULES,
): Config {
  const settings = readSettings(environment);
  const config = read(settings, absolute, modules);
  requireForRole(settings, config);
  if (settings.problems.length > 0)
    throw new Error(
      `The settings cannot be used:\n${settings.problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
  return config;
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
    tokenSecrets: settings.rotating('ACCESS_TOKEN_SECRET').map(secret),
    serviceKeys: settings.rotating('SERVICE_API_KEY').map(secret),
    operatorKeys: settings.rotating('OPERATOR_KEY').map(secret),
    urlSecrets: settings.rotating('URL_SIGNING_SECRET').map(secret),
    videoProvider: settings.oneOf(
      'VIDEO_PROVIDER',
      modules.map(({ name }) => name),
      'onprem',
    ),
    allowUnsigned,
    providers,
    ffmpegPath: text('FFMPEG_PATH'),
    corsOrigins: settings.list('CORS_ORIGINS'),
    mediaTypes: readMediaTypes(settings),
    maxUploadBytes: integer('MAX_UPLOAD_BYTES', { fallback: 10 * GIB, min: 1, max: Number.MAX_SAFE_INTEGER }),
    maxImagePixels: integer('MAX_IMAGE_PIXELS', { fallback: 50_000_000, min: 1, max: 500_000_000 }),
    uploadTtlSeconds: integer('UPLOAD_TTL_S', { fallback: DAY, min: 1, max: 365 * DAY }),
    playbackTokenTtlSeconds: integer('PLAYBACK_TOKEN_TTL_S', { fallback: 21_600, min: 1, max: 365 * DAY }),
    webhookRetentionDays: integer('WEBHOOK_RETENTION_DAYS', { fallback: 30, min: 7, max: 3650 }),
    trashDays: integer('TRASH_DAYS', { fallback: 30, min: 0, max: 3650 }),
    logLevel: settings.oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
    warnings: [...secretWarnings(settings, modules), ...unsignedWarnings(settings, modules, allowUnsigned)],
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

function readStorageUrl({ text, problems }: Settings): string | undefined {
  const url = text('STORAGE_URL');
  if (url !== undefined && !url.startsWith('file:')) problems.push('STORAGE_URL must be a file: URL');
  return url;
}

function readMediaTypes({ list, problems }: Settings): readonly MediaType[] {
  const named = list('ALLOWED_MIME_TYPES');
  if (named.length === 0) return MEDIA_TYPES;
  const types = narrowed(named);
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

const MIN_SECRET_LENGTH = 32;

/** Weaknesses that do not stop the start, in words for the operator. */
function secretWarnings({ text }: Settings, modules: readonly RegisteredProvider[]): string[] {
  const names = [...OWN_SECRETS, 'URL_SIGNING_SECRET', ...modules.map(({ secrets: [name] }) => name)];
  const short = names.filter((name) => (text(name)?.length ?? MIN_SECRET_LENGTH) < MIN_SECRET_LENGTH);
  const equal = names.flatMap((name, index) =>
    names
      .slice(index + 1)
      .filter((other) => text(name) !== undefined && text(name) === text(other))
      .map((other) => `${name} and ${other} are the same`),
  );
  return [...short.map((name) => `${name} is shorter than ${MIN_SECRET_LENGTH} characters`), ...equal];
}

const unsignedWarnings = (
  { text }: Settings,
  modules: readonly RegisteredProvider[],
  allowed: readonly ProviderName[],
): string[] =>
  modules
    .filter(({ name, secrets: [secret] }) => allowed.includes(name) && !text(secret))
    .map(
      ({ name, secrets: [secret] }) =>
        `the ${name} webhook accepts unsigned calls: ${secret} is not set and WEBHOOKS_ALLOW_UNSIGNED names it`,
    );
