// An API and a worker as processes, on one database and one store; the worker can be killed and replaced.
import { ffmpegPath } from '../clips/clips.ts';
import { startSharedData } from '../postgres/shared-data.ts';
import { endAllIn, type ServiceProcess, sharedBy, startProcess, workerOf } from './service-process.ts';

type Settings = Readonly<Record<string, string | undefined>>;

export type ReplaceableWorker = {
  readonly api: ServiceProcess;
  readonly dataDir: string;
  /** Kills the worker and starts another one. */
  replaceWorker(): Promise<void>;
  stop(): Promise<void>;
};

/** `settings` are those of both processes, `ofWorker` those of the first worker alone. */
export async function startReplaceableWorker(
  settings: Settings = {},
  ofWorker: Settings = {},
): Promise<ReplaceableWorker> {
  const data = await startSharedData();
  const { dataDir } = data;
  const shared = sharedBy({ ...data, ffmpegPath: ffmpegPath() });
  const api = await startProcess({ ...shared, ...settings, MEDIARY_ROLE: 'api' });
  const startWorker = (more: Settings) => startProcess({ ...workerOf(shared, api), ...settings, ...more });
  let worker = await startWorker(ofWorker);
  return {
    api,
    dataDir,
    replaceWorker: async () => {
      await worker.end('SIGKILL');
      worker = await startWorker({});
    },
    stop: async () => {
      await Promise.all([api, worker].map((process) => process.end('SIGKILL')));
      await endAllIn(dataDir);
      await data.remove();
    },
  };
}
