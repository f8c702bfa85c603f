// An API process and workers that share a database and a bucket, and no files.
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ACCESS_KEY, SECRET_KEY } from '../store/ceph-rgw.ts';
import { pacedEngine } from '../clips/clips.ts';
import { startSharedData } from '../postgres/shared-data.ts';
import { createBucket, type TestBucket } from '../store/s3.ts';
import { newDataDir } from './data-folders.ts';
import { endAllIn, type ServiceProcess, sharedBy, startProcess, workerOf } from './service-process.ts';

export type SeparateMachines = {
  readonly api: ServiceProcess;
  readonly workers: readonly ServiceProcess[];
  /** `dataDir`, then the DATA_DIR of each worker. */
  readonly folders: readonly string[];
  readonly bucket: TestBucket;
  /** The DATA_DIR of the API. */
  readonly dataDir: string;
  stop(): Promise<void>;
};

type Options = { readonly workers: number; readonly settings?: Readonly<Record<string, string>> };

export async function startSeparateMachines({
  workers: count,
  settings = {},
}: Options): Promise<SeparateMachines> {
  const workerDirs = await Promise.all(Array.from({ length: count }, newDataDir));
  const bucket = await createBucket();
  const data = await startSharedData();
  const shared = {
    ...sharedBy({ ...data, ffmpegPath: await pacedEngine() }),
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
  const folders = [data.dataDir, ...workerDirs];
  return {
    api,
    workers,
    folders,
    bucket,
    dataDir: data.dataDir,
    stop: async () => {
      await Promise.all([api, ...workers].map(({ end }) => end('SIGKILL')));
      await Promise.all(folders.map(endAllIn));
      await data.remove();
      await Promise.all(
        workerDirs.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })),
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
export const foldersWithObjects = ({ dataDir, folders }: SeparateMachines): string[] =>
  [dataDir, ...folders].filter((folder) => existsSync(join(folder, 'objects')));
