// An API process and workers that share a database and a bucket, and no files.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { ACCESS_KEY, SECRET_KEY } from '../store/ceph-rgw.ts';
import { pacedEngine } from '../clips/clips.ts';
import { createBucket, type TestBucket } from '../store/s3.ts';
import { newDataDir } from '../service.ts';
import { endAllIn, type ServiceProcess, sharedBy, startProcess, workerOf } from './service-process.ts';

export type SeparateMachines = {
  readonly api: ServiceProcess;
  readonly workers: readonly ServiceProcess[];
  /** The DATA_DIR of the API, then those of the workers. */
  readonly folders: readonly string[];
  readonly bucket: TestBucket;
  readonly databaseDir: string;
  stop(): Promise<void>;
};

type Options = { readonly workers: number; readonly settings?: Readonly<Record<string, string>> };

export async function startSeparateMachines({
  workers: count,
  settings = {},
}: Options): Promise<SeparateMachines> {
  const newFolders = (length: number) => Promise.all(Array.from({ length }, () => newDataDir()));
  const [databaseDir = '', apiDir = '', ...workerDirs] = await newFolders(2 + count);
  const bucket = await createBucket();
  const postgres = await startEmbeddedPostgres(databaseDir);
  const shared = {
    ...sharedBy({ postgres, dataDir: apiDir, ffmpegPath: await pacedEngine() }),
    STORAGE_URL: bucket.url,
    AWS_ACCESS_KEY_ID: ACCESS_KEY,
    AWS_SECRET_ACCESS_KEY: SECRET_KEY,
  };
  const api = await startProcess({ ...shared, MEDIARY_ROLE: 'api' });
  const workers = await Promise.all(
    workerDirs.map((dataDir) =>
      startProcess({ ...workerOf({ ...shared, DATA_DIR: dataDir }, api), ...settings }),
    ),
  );
  const folders = [apiDir, ...workerDirs];
  return {
    api,
    workers,
    folders,
    bucket,
    databaseDir,
    stop: async () => {
      await Promise.all([api, ...workers].map(({ end }) => end('SIGKILL')));
      await Promise.all(folders.map(endAllIn));
      await postgres.stop();
      await Promise.all(
        [databaseDir, ...folders].map((folder) =>
          rm(folder, { recursive: true, force: true, maxRetries: 5 }),
        ),
      );
    },
  };
}

/** The names in the scratch folders of the workers that run. */
export async function scratchNames(
  { workers, folders: [, ...workerDirs] }: SeparateMachines,
  killed: ServiceProcess | undefined,
): Promise<string[]> {
  const running = workerDirs.filter((_, index) => workers[index] !== killed);
  const names = await Promise.all(running.map((folder) => readdir(join(folder, 'scratch'))));
  return names.flat();
}

/** The data folders with objects, which belong in the bucket. */
export const foldersWithObjects = ({ databaseDir, folders }: SeparateMachines): string[] =>
  [databaseDir, ...folders].filter((folder) => existsSync(join(folder, 'objects')));
