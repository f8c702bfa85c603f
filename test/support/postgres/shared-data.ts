// A PostgreSQL server and a folder of objects, which several processes or services of a test share.
import { rm } from 'node:fs/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { newDatabaseDir, newDataDir } from '../service.ts';
import { storageOf } from '../store/test-store.ts';
import { urlOf } from './postgres.ts';

export type SharedData = {
  readonly databaseDir: string;
  readonly dataDir: string;
  readonly postgres: EmbeddedPostgres;
  /** Of each service. */
  readonly environment: Readonly<Record<'DATABASE_URL' | 'DATA_DIR' | 'STORAGE_URL', string>>;
  /** Stops the server and deletes both folders. */
  remove(): Promise<void>;
};

export async function startSharedData(): Promise<SharedData> {
  const [databaseDir, dataDir] = [await newDatabaseDir(), await newDataDir()];
  const postgres = await startEmbeddedPostgres(databaseDir);
  return {
    databaseDir,
    dataDir,
    postgres,
    environment: {
      DATABASE_URL: urlOf(postgres),
      DATA_DIR: dataDir,
      STORAGE_URL: `file:${dataDir}/objects`,
      ...storageOf(dataDir),
    },
    remove: async () => {
      await postgres.stop();
      for (const folder of [databaseDir, dataDir])
        await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
