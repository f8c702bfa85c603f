// The API processes and workers of the cluster, as an operator would configure them.
import { join } from 'node:path';
import { respondsAt } from './nginx.ts';
import type { ProcessSpec } from './supervised-process.ts';

type ServiceSettings = {
  readonly folder: string;
  readonly logFolder: string;
  /** The address of nginx. */
  readonly url: string;
  /** Settings of every process, over those of the environment. */
  readonly shared: Readonly<Record<string, string>>;
};

const START = join(import.meta.dirname, '../../service/start.js');
/** Load balancers that only see failed connections need no longer time. */
const DRAIN = { DRAIN_S: '1', STOP_TIMEOUT_S: '20' };

export function describeApi(settings: ServiceSettings, number: number, port: number): ProcessSpec {
  return describeProcess(settings, {
    name: `api-${number}`,
    own: {
      MEDIARY_ROLE: 'api',
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_BASE_URL: settings.url,
      TRUST_PROXY: '127.0.0.1',
      ...DRAIN,
    },
    isReady: () => respondsAt(`http://127.0.0.1:${port}/readyz`),
  });
}

/** Its reports go through nginx, to whichever API process is there. */
export function describeWorker(settings: ServiceSettings, number: number): ProcessSpec {
  return describeProcess(settings, {
    name: `worker-${number}`,
    own: { MEDIARY_ROLE: 'worker', ENCODER_CALLBACK_URL: settings.url },
    isReady: (output) => output.includes('"msg":"service started"'),
  });
}

function describeProcess(
  { folder, logFolder, shared }: ServiceSettings,
  { name, own, isReady }: Pick<ProcessSpec, 'name' | 'isReady'> & { readonly own: Record<string, string> },
): ProcessSpec {
  return {
    name,
    command: [process.execPath, START],
    environment: { ...process.env, ...shared, ...own, DATA_DIR: join(folder, name) },
    logFolder,
    isReady,
  };
}
