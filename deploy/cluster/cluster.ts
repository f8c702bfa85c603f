// Starts the whole system on one machine: database, object store, API processes, workers and nginx.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OWN_SECRETS } from '../../service/src/auth/settings.ts';
import { openLocalSecrets } from '../../service/src/platform/settings/generated-secrets.ts';
import { freePort } from '../../test/support/http/free-port.ts';
import { CEPH_PROGRAMS, createBucket, startCeph } from './ceph.ts';
import { describeNginx, respondsAt } from './nginx.ts';
import { supervisePostgres, type SupervisedPostgres } from './postgres.ts';
import { describeMissingPackages } from './programs.ts';
import { describeApi, describeWorker } from './service-processes.ts';
import { type ProcessSpec, type Report, supervise, type Supervised } from './supervised-process.ts';

type ClusterOptions = {
  /** Absolute path. Data, secrets and ports stay there between two starts. */
  readonly folder: string;
  /** The port of nginx. */
  readonly port: number;
  readonly report: Report;
  /** Settings of the API processes and workers; they replace generated secrets. */
  readonly settings?: Readonly<Record<string, string>>;
};

export type Cluster = {
  /** The address of nginx. */
  readonly url: string;
  readonly secrets: Secrets;
  readonly apis: readonly Supervised[];
  readonly workers: readonly Supervised[];
  readonly postgres: SupervisedPostgres;
  /** The S3 gateway of the object store. */
  readonly gateway: Supervised;
  readonly nginx: Supervised;
  /** Restarts API processes and workers, one after another. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

const SECRETS = [...OWN_SECRETS, 'ONPREM_WEBHOOK_SECRET', 'STORE_ACCESS_KEY', 'STORE_SECRET_KEY'] as const;
type Secrets = Readonly<Record<(typeof SECRETS)[number], string>>;

const API_PROCESSES = 3;
const WORKERS = 2;
const PROGRAMS = { nginx: 'nginx-light', setpriv: 'util-linux', ...CEPH_PROGRAMS };
const BUCKET = 'media';

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const missing = describeMissingPackages(PROGRAMS);
  if (missing !== undefined) throw new Error(missing);
  const layout = await prepareFolder(options.folder);
  /** In the order of their start; they stop in reverse. */
  const started: (readonly Supervised[])[] = [];
  const stop = async () => {
    for (const group of started.toReversed()) await Promise.all(group.map((process) => process.stop()));
  };
  try {
    return { ...(await startAll(options, layout, started)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAll(
  { port, report, settings }: ClusterOptions,
  { folder, logFolder, secrets, ports }: Layout,
  started: (readonly Supervised[])[],
): Promise<Omit<Cluster, 'stop'>> {
  const start = async (specs: readonly ProcessSpec[]) => {
    const group = await Promise.all(specs.map((spec) => supervise(spec, report)));
    started.push(group);
    for (const { name } of group) report(`${name} is ready`);
    return group;
  };
  const postgres = await supervisePostgres(join(folder, 'postgres'), report);
  started.push([postgres]);
  report('postgres is ready');
  const startOne = async (spec: ProcessSpec): Promise<Supervised> => {
    const [process] = await start([spec]);
    if (!process) throw new Error(`${spec.name} did not start`);
    return process;
  };
  const store = await startStore({ folder, secrets, ports }, (spec) => startOne({ ...spec, logFolder }));
  const url = `http://127.0.0.1:${port}`;
  const shared = {
    ...toServiceSettings(secrets),
    ...settings,
    DATABASE_URL: postgres.url,
    STORAGE_URL: store.url,
  };
  const service = { folder, logFolder, url, shared };
  const apis = await start(ports.apis.map((apiPort, index) => describeApi(service, index + 1, apiPort)));
  const nginx = await startOne(
    await describeNginx({ folder: join(folder, 'nginx'), logFolder, port, apiPorts: ports.apis }),
  );
  const workers = await start(
    Array.from({ length: WORKERS }, (_, index) => describeWorker(service, index + 1)),
  );
  const restart = async () => {
    await restartAll(apis, report, PAUSE_MS);
    await restartAll(workers, report);
  };
  return { url, secrets, apis, workers, postgres, gateway: store.gateway, nginx, restart };
}

/** `url`: the value of STORAGE_URL. */
type Store = { readonly url: string; readonly gateway: Supervised };

async function startStore(
  { folder, secrets, ports }: Pick<Layout, 'folder' | 'secrets' | 'ports'>,
  start: (spec: Omit<ProcessSpec, 'logFolder'>) => Promise<Supervised>,
): Promise<Store> {
  const endpoint = `http://127.0.0.1:${ports.gateway}`;
  const keys = { accessKey: secrets.STORE_ACCESS_KEY, secretKey: secrets.STORE_SECRET_KEY };
  const gateway = await startCeph(
    {
      folder: join(folder, 'ceph'),
      monitorPort: ports.monitor,
      gatewayPort: ports.gateway,
      objects: 'disk',
      ...keys,
    },
    (name, command, environment) =>
      start({ name, command, environment, isReady: () => name !== 'radosgw' || respondsAt(endpoint) }),
  );
  await createBucket({ endpoint, bucket: BUCKET, ...keys });
  return { url: `s3://${BUCKET}?endpoint=${endpoint}`, gateway };
}

const toServiceSettings = ({ STORE_ACCESS_KEY, STORE_SECRET_KEY, ...secrets }: Secrets) => ({
  ...secrets,
  AWS_ACCESS_KEY_ID: STORE_ACCESS_KEY,
  AWS_SECRET_ACCESS_KEY: STORE_SECRET_KEY,
});

/** Longer than `fail_timeout` in nginx.conf: nginx uses the last process again before the next one stops. */
const PAUSE_MS = 6500;

async function restartAll(processes: readonly Supervised[], report: Report, pauseMs = 0): Promise<void> {
  for (const process of processes) {
    report(`${process.name} restarts`);
    await process.restart();
    report(`${process.name} is ready`);
    await delay(pauseMs);
  }
}

type Layout = {
  readonly folder: string;
  readonly logFolder: string;
  readonly secrets: Secrets;
  readonly ports: Ports;
};
type Ports = { readonly monitor: number; readonly gateway: number; readonly apis: readonly number[] };

async function prepareFolder(folder: string): Promise<Layout> {
  const logFolder = join(folder, 'logs');
  await mkdir(logFolder, { recursive: true });
  // The database server of root runs as another user, who has to pass through.
  await chmod(folder, 0o711);
  await chmod(logFolder, 0o700);
  const { values } = await openLocalSecrets(folder, SECRETS);
  return { folder, logFolder, secrets: values as Secrets, ports: await getPorts(join(folder, 'ports.json')) };
}

/** The same after each start: the monitor's is part of its data. */
async function getPorts(file: string): Promise<Ports> {
  const stored = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (stored !== undefined) return JSON.parse(stored) as Ports;
  const apis: number[] = [];
  for (let count = 0; count < API_PROCESSES; count += 1) apis.push(await freePort());
  const ports = { monitor: await freePort(), gateway: await freePort(), apis };
  await writeFile(file, JSON.stringify(ports));
  return ports;
}
