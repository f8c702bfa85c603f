// The settings (contract B9): each wing reads its own; one message reports every problem.
import { readAuthSettings } from './auth/settings.ts';
import { settingWarnings } from './config-warnings.ts';
import { COLLECTION_SETTINGS } from './collections/settings.ts';
import { readEncodingSettings } from './encoding/settings.ts';
import { STREAM_SETTINGS, WEBHOOK_SETTINGS } from './events/settings.ts';
import { IMAGE_SETTINGS } from './images/settings.ts';
import { LIBRARY_SETTINGS } from './library/settings.ts';
import { RETENTION_SETTINGS } from './lifecycle/settings.ts';
import { DECODER_SETTINGS } from './media/settings.ts';
import { OWNER_SETTINGS } from './owners/settings.ts';
import { HTTP_SETTINGS } from './platform/http/settings.ts';
import { TRACE_SETTINGS } from './platform/observability/settings.ts';
import { PROCESS_SETTINGS } from './platform/process/settings.ts';
import {
  assertNoProblems,
  createSettings,
  type Environment,
  type Settings,
} from './platform/settings/read-settings.ts';
import type { SettingGroup } from './platform/settings/setting.ts';
import { readPlaybackSettings } from './playback/settings.ts';
import type { RegisteredProvider } from './providers/provider-module.ts';
import { configureProviders, PROVIDER_MODULES } from './providers/registry.ts';
import { readProviderSettings } from './providers/settings.ts';
import { readStorageSettings } from './storage/settings.ts';
import { readUploadSettings } from './uploads/settings.ts';
import { BACKUP_SETTINGS, findBackupProblems, isBucketPlace } from './commands/backup/settings.ts';
import { USAGE_SETTINGS } from './usage/settings.ts';

export type Config = ReturnType<typeof readValues> & {
  /** Problems that do not stop the start. */
  readonly warnings: readonly string[];
};

/** Throws with one message that names every problem. `absolute` resolves relative paths. */
export function readConfig(
  environment: Environment,
  absolute: (path: string) => string,
  modules: readonly RegisteredProvider[] = PROVIDER_MODULES,
): Config {
  const settings = createSettings(environment);
  const values = withAbsolutePaths(readValues(settings, modules), absolute);
  assertNoProblems([...settings.problems, ...findRoleProblems(values), ...findBackupProblems(values)]);
  return { ...values, warnings: settingWarnings(values, { settings, environment, modules }) };
}

function withAbsolutePaths(values: ReturnType<typeof readValues>, absolute: (path: string) => string) {
  const { backup, dataDir } = values;
  const place =
    backup.place === undefined || isBucketPlace(backup.place) ? backup.place : absolute(backup.place);
  return { ...values, dataDir: absolute(dataDir), backup: { ...backup, place } };
}

/** The settings of the service and of all providers, in the order of the documentation. */
export function listSettingGroups(): readonly SettingGroup[] {
  const settings = createSettings({});
  readValues(settings, PROVIDER_MODULES);
  return settings.groups;
}

function readValues(settings: Settings, modules: readonly RegisteredProvider[]) {
  const process = settings.read(PROCESS_SETTINGS);
  const { tracing } = settings.read(TRACE_SETTINGS);
  const http = settings.read(HTTP_SETTINGS);
  const secrets = readAuthSettings(settings);
  const storage = readStorageSettings(settings);
  const others = { s3: storage.s3, isBehindProxy: http.trustProxy !== undefined };
  return {
    ...process,
    tracing,
    ...http,
    ...secrets,
    ...storage,
    ...readUploadSettings(settings),
    ...settings.read(USAGE_SETTINGS),
    ...settings.read(LIBRARY_SETTINGS),
    ...settings.read(RETENTION_SETTINGS),
    ...settings.read(BACKUP_SETTINGS),
    ...readPlaybackSettings(settings, others),
    ...readEncodingSettings(settings),
    ...settings.read(IMAGE_SETTINGS),
    ...settings.read(DECODER_SETTINGS),
    ...settings.read(STREAM_SETTINGS),
    ...settings.read(WEBHOOK_SETTINGS),
    ...settings.read(COLLECTION_SETTINGS),
    ...settings.read(OWNER_SETTINGS),
    ...readProviderSettings(settings, modules),
    providers: configureProviders(settings, modules),
  };
}

function findRoleProblems({ role, ...values }: ReturnType<typeof readValues>): string[] {
  if (role === 'worker')
    // A worker has no listener that could receive the reports of its encoder.
    return values.encoderCallbackUrl || values.publicBaseUrl
      ? []
      : ['ENCODER_CALLBACK_URL must be set where MEDIARY_ROLE is worker'];
  const secrets = {
    ACCESS_TOKEN_SECRET: values.tokenSecrets,
    SERVICE_API_KEY: values.serviceKeys,
    OPERATOR_KEY: values.operatorKeys,
  };
  return Object.entries(secrets)
    .filter(([, given]) => given.length === 0)
    .map(([name]) => `${name} must be set`);
}
