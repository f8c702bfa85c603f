// A real S3 server for tests: Ceph's RADOS gateway with an OSD in memory, from Debian's packages.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

export const ACCESS_KEY = 'testkey';
export const SECRET_KEY = 'testsecret';

export type S3Server = { readonly endpoint: string; stop(): Promise<void> };

const PACKAGES = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common'];
const PROGRAMS = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph', 'ceph-authtool', 'monmaptool', 'radosgw-admin'];

/** Why the server cannot run here; undefined when it can. */
export function missingS3Server(): string | undefined {
  if (process.getuid?.() !== 0) return "Ceph's RADOS gateway is started as root only";
  try {
    execFileSync('which', PROGRAMS, { stdio: 'ignore' });
    return undefined;
  } catch {
    return `Install Ceph's RADOS gateway: apt-get install --no-install-recommends ${PACKAGES.join(' ')}`;
  }
}

export async function startS3Server(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-rgw-'));
  await Promise.all(['mon', 'osd0', 'rgw', 'run'].map((name) => mkdir(join(folder, name))));
  const [monitorPort, port] = [await freePort(), await freePort()];
  const cluster = { folder, id: randomUUID(), monitorPort, port };
  await writeFile(join(folder, 'ceph.conf'), configOf(cluster));
  const daemons: ChildProcess[] = [];
  const stop = async () => {
    // An orderly stop takes seconds, and nothing has to be kept.
    for (const daemon of daemons) daemon.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await startDaemons(cluster, daemons);
    return { endpoint: `http://127.0.0.1:${port}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Cluster = {
  readonly folder: string;
  readonly id: string;
  readonly monitorPort: number;
  readonly port: number;
};

async function startDaemons(
  { folder, id, monitorPort, port }: Cluster,
  daemons: ChildProcess[],
): Promise<void> {
  const env = { ...process.env, CEPH_CONF: join(folder, 'ceph.conf') };
  const run = async (program: string, ...args: string[]) =>
    promisify(execFile)(program, args, { env, timeout: 30_000 });
  const start = (program: string, ...args: string[]) =>
    daemons.push(spawn(program, [...args, '-f'], { env, stdio: 'ignore' }));
  const [keyring, monitors, osd] = [join(folder, 'keyring'), join(folder, 'monmap'), randomUUID()];

  await run('ceph-authtool', '-C', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *');
  for (const name of ['client.admin', 'osd.0', 'client.rgw'])
    await run(
      'ceph-authtool',
      keyring,
      '--gen-key',
      '-n',
      name,
      ...['mon', 'osd'].flatMap((part) => ['--cap', part, 'allow *']),
    );
  const address = `[v2:127.0.0.1:${monitorPort}/0]`;
  await run('monmaptool', '--create', '--clobber', '--fsid', id, '--addv', 'a', address, monitors);
  await run('ceph-mon', '-i', 'a', '--mkfs', '--monmap', monitors, '--keyring', keyring);
  start('ceph-mon', '-i', 'a');
  await run('ceph', 'osd', 'new', osd, '0');
  await run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd);
  start('ceph-osd', '-i', '0');
  start('radosgw', '-n', 'client.rgw');
  await untilServing(`http://127.0.0.1:${port}`);
  const user = ['user', 'create', '--uid=test', '--display-name=test'];
  await run(
    'radosgw-admin',
    '-n',
    'client.rgw',
    ...user,
    `--access-key=${ACCESS_KEY}`,
    `--secret-key=${SECRET_KEY}`,
  );
}

/**
 * `lc debug interval` turns a day of lifecycle rules into seconds. Without authentication radosgw hangs, so
 * it stays on.
 */
const configOf = ({ folder, id, monitorPort, port }: Cluster): string => `[global]
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
osd objectstore = memstore
memstore device bytes = 4294967296
paxos propose interval = 0.02
paxos min wait = 0.01
[mon.a]
mon data = ${folder}/mon
mon initial members = a
mon cluster log file = ${folder}/cluster.log
[osd.0]
osd data = ${folder}/osd0
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw data = ${folder}/rgw
`;

const START_MS = 60_000;

async function untilServing(url: string): Promise<void> {
  for (const end = Date.now() + START_MS; ; ) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    if (Date.now() > end) throw new Error(`the RADOS gateway does not answer at ${url}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
