// A database and a folder of objects, which several processes or services of a test share.
import { rm } from 'node:fs/promises';
import { newDataDir } from '../service/data-folders.ts';
import { storageOf } from '../store/test-store.ts';
import { urlOf } from './postgres.ts';
import { createDatabaseOf, type TestDatabase } from './test-databases.ts';

export type SharedData = {
  readonly postgres: Pick<TestDatabase, 'connection'>;
  readonly dataDir: string;
  /** Of each service. */
  readonly environment: Readonly<Record<'DATABASE_URL' | 'DATA_DIR' | 'STORAGE_URL', string>>;
  /** Deletes the database and the folder. */
  remove(): Promise<void>;
};

export async function startSharedData(): Promise<SharedData> {
  const dataDir = await newDataDir();
  const database = await createDatabaseOf(dataDir);
  return {
    dataDir,
    postgres: database,
    environment: {
      DATABASE_URL: urlOf(database),
      DATA_DIR: dataDir,
      STORAGE_URL: `file:${dataDir}/objects`,
      ...storageOf(dataDir),
    },
    remove: async () => {
      await database.drop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
