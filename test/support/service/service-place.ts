// Where a service of a test keeps its data: a folder, and a database.
import { rm } from 'node:fs/promises';
import type { Environment } from '../../../service/src/platform/settings/read-settings.ts';
import { urlOf } from '../postgres/postgres.ts';
import { createDatabaseOf, hasSharedServer } from '../postgres/test-databases.ts';
import { newDatabaseDir, newDataDir } from './data-folders.ts';

type Place = {
  readonly dataDir: string;
  readonly settings: Environment;
  /** Deletes what `openPlace` created. */
  remove(): Promise<void>;
};

/** A data folder and a database, unless the settings of the service name them. */
export async function openPlace(environment: Environment, ownsServer: boolean): Promise<Place> {
  const { DATA_DIR, DATABASE_URL } = environment;
  if (DATA_DIR !== undefined) return { dataDir: DATA_DIR, settings: { DATA_DIR }, remove: async () => {} };
  const isShared = hasSharedServer && !ownsServer && DATABASE_URL === undefined;
  const dataDir = isShared || DATABASE_URL !== undefined ? await newDataDir() : await newDatabaseDir();
  const database = isShared ? await createDatabaseOf(dataDir) : undefined;
  return {
    dataDir,
    settings: { DATA_DIR: dataDir, ...(database && { DATABASE_URL: urlOf(database) }) },
    remove: async () => {
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
