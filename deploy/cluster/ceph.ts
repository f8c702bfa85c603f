// Ceph on one machine: a monitor, an object storage daemon and the S3 gateway, with all files in one folder.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, PutBucketCorsCommand, S3Client } from '@aws-sdk/client-s3';

/** Program → its Debian package. */
export const CEPH_PROGRAMS = {
  radosgw: 'radosgw',
  'radosgw-admin': 'ceph-common',
  'ceph-mon': 'ceph-mon',
  monmaptool: 'ceph-base',
  'ceph-osd': 'ceph-osd',
  ceph: 'ceph-common',
  'ceph-authtool': 'ceph-common',
};

type CephSettings = {
  /** Holds nothing else; a later start finds its data here. */
  readonly folder: string;
  readonly monitorPort: number;
  readonly gatewayPort: number;
  /** `memory` is faster, and forgets everything. */
  readonly objects: 'memory' | 'disk';
  readonly accessKey: string;
  readonly secretKey: string;
};

/** Starts a daemon; resolves when it runs, the gateway's when it responds. */
export type StartDaemon<D = unknown> = (
  name: string,
  command: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
) => Promise<D>;

/** Returns the gateway. */
export async function startCeph<D>(settings: CephSettings, start: StartDaemon<D>): Promise<D> {
  const { folder } = settings;
  const environment = { ...process.env, CEPH_CONF: join(folder, 'ceph.conf') };
  const run = async (program: string, ...args: string[]) => {
    await promisify(execFile)(program, args, { env: environment, timeout: 60_000 });
  };
  const created = join(folder, 'created');
  const isNew = !existsSync(created);
  if (isNew) await createMonitor(settings, run);
  await start('ceph-mon', ['ceph-mon', '-i', 'a', '-f'], environment);
  if (isNew) await createObjectDaemon(run);
  await start('ceph-osd', ['ceph-osd', '-i', '0', '-f'], environment);
  const gateway = await start('radosgw', ['radosgw', '-n', GATEWAY, '-f'], environment);
  if (isNew) {
    await createUser(settings, run);
    await writeFile(created, '');
  }
  return gateway;
}

type Run = (program: string, ...args: string[]) => Promise<void>;

const GATEWAY = 'client.rgw';

async function createMonitor(settings: CephSettings, run: Run): Promise<void> {
  const { folder, monitorPort } = settings;
  const id = randomUUID();
  // What an interrupted first start left cannot be continued.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await Promise.all(
    ['mon', 'osd0', 'rgw', 'run'].map((name) => mkdir(join(folder, name), { recursive: true })),
  );
  await writeFile(join(folder, 'ceph.conf'), renderConfig(settings, id));
  const [keyring, monitors] = [join(folder, 'keyring'), join(folder, 'monmap')];
  await run('ceph-authtool', '-C', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *');
  for (const name of ['client.admin', 'osd.0', GATEWAY]) {
    const rights = ['mon', 'osd'].flatMap((part) => ['--cap', part, 'allow *']);
    await run('ceph-authtool', keyring, '--gen-key', '-n', name, ...rights);
  }
  const address = `[v2:127.0.0.1:${monitorPort}/0]`;
  await run('monmaptool', '--create', '--clobber', '--fsid', id, '--addv', 'a', address, monitors);
  await run('ceph-mon', '-i', 'a', '--mkfs', '--monmap', monitors, '--keyring', keyring);
}

async function createObjectDaemon(run: Run): Promise<void> {
  const osd = randomUUID();
  await run('ceph', 'osd', 'new', osd, '0');
  await run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd);
}

const createUser = ({ accessKey, secretKey }: CephSettings, run: Run): Promise<void> =>
  run(
    'radosgw-admin',
    ...['-n', GATEWAY, 'user', 'create', '--uid=mediary', '--display-name=mediary'],
    `--access-key=${accessKey}`,
    `--secret-key=${secretKey}`,
  );

type BucketSettings = Pick<CephSettings, 'accessKey' | 'secretKey'> & {
  readonly endpoint: string;
  readonly bucket: string;
};

/** Web pages of every origin may use the URLs that the service signs. An existing bucket stays as it is. */
export async function createBucket({
  endpoint,
  bucket,
  accessKey,
  secretKey,
}: BucketSettings): Promise<void> {
  const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey };
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  const rule = {
    AllowedOrigins: ['*'],
    AllowedMethods: ['GET', 'HEAD', 'PUT'],
    AllowedHeaders: ['*'],
    ExposeHeaders: ['ETag'],
  };
  await client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: [rule] } }));
  client.destroy();
}

const OBJECTS = {
  memory: 'osd objectstore = memstore\nmemstore device bytes = 4294967296',
  disk: `osd objectstore = bluestore
bluestore block create = true
bluestore block size = 21474836480
bluestore cache autotune = false
bluestore cache size = 134217728`,
};

/** One copy of everything. Without authentication radosgw hangs, so it stays on. */
const renderConfig = (
  { folder, monitorPort, gatewayPort, objects }: CephSettings,
  id: string,
): string => `[global]
fsid = ${id}
mon host = [v2:127.0.0.1:${monitorPort}/0]
ms bind msgr1 = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
keyring = ${folder}/keyring
run dir = ${folder}/run
log file = ${folder}/$name.log
admin socket = ${folder}/run/$name.$pid.asok
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
${OBJECTS[objects]}
paxos propose interval = 0.02
paxos min wait = 0.01
[mon.a]
mon data = ${folder}/mon
mon initial members = a
mon cluster log file = ${folder}/cluster.log
[osd.0]
osd data = ${folder}/osd0
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort}
rgw data = ${folder}/rgw
`;
