// The settings of a process on this machine: environment, files and generated secrets.
import { resolve } from 'node:path';
import { listSettingGroups, readConfig } from './config.ts';
import {
  assertNoProblems,
  createSettings,
  type Environment,
  namesOf,
} from './platform/settings/read-settings.ts';
import { readSettingFiles } from './platform/settings/setting-files.ts';
import { openLocalSecrets } from './platform/settings/generated-secrets.ts';
import { OWN_SECRETS } from './auth/settings.ts';
import { assertWritableFolder } from './platform/disk/data-folder.ts';
import { DEFAULT_DATA_DIR, PROCESS_SETTINGS } from './platform/process/settings.ts';

/** Throws with one message that names every problem. `local`: with the embedded database. */
export async function readLocalConfig(environment: Environment) {
  const { settings, local } = await withLocalSecrets(environment);
  return { config: readConfig(settings, (path) => resolve(path)), local };
}

/** For commands that need the database alone: neither secrets nor a writable folder with DATABASE_URL. */
export async function readDatabaseConfig(given: Environment) {
  const settings = createSettings(readSettingFiles(given, namesOf(listSettingGroups())));
  const { databaseUrl, databaseListenUrl, dataDir, start } = settings.read(PROCESS_SETTINGS);
  assertNoProblems(settings.problems);
  const config = { databaseUrl, databaseListenUrl, start, dataDir: resolve(dataDir) };
  if (databaseUrl === undefined) await assertWritableFolder('DATA_DIR', config.dataDir);
  return config;
}

/** With the embedded database, the first start generates missing secrets and stores them in DATA_DIR. */
async function withLocalSecrets(given: Environment) {
  const environment = readSettingFiles(given, namesOf(listSettingGroups()));
  const dataDir = resolve(environment['DATA_DIR'] || DEFAULT_DATA_DIR);
  await assertWritableFolder('DATA_DIR', dataDir);
  if (environment['DATABASE_URL']) return { settings: environment, local: undefined };
  const local = await openLocalSecrets(dataDir, OWN_SECRETS);
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  return { settings: { ...local.values, ...set }, local };
}
