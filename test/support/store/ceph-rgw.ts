// A real S3 server for tests: Ceph's RADOS gateway with an OSD in memory, from Debian's packages.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CEPH_PROGRAMS, type StartDaemon, startCeph } from '../../../deploy/cluster/ceph.ts';
import { respondsAt } from '../../../deploy/cluster/nginx.ts';
import { describeMissingPackages } from '../../../deploy/cluster/programs.ts';
import { freePort } from '../http/free-port.ts';

export const ACCESS_KEY = 'testkey';
export const SECRET_KEY = 'testsecret';
/** The bucket of the journeys; each service has a prefix in it. */
export const JOURNEY_BUCKET = 'journeys';

export type S3Server = { readonly endpoint: string; stop(): Promise<void> };

/** Why the server cannot run here; undefined when it can. */
export function missingS3Server(): string | undefined {
  if (process.getuid?.() !== 0) return "Ceph's RADOS gateway is started as root only";
  return describeMissingPackages(CEPH_PROGRAMS);
}

export async function startS3Server(): Promise<S3Server> {
  const folder = join(await mkdtemp(join(tmpdir(), 'mediary-rgw-')), 'ceph');
  const [monitorPort, gatewayPort] = [await freePort(), await freePort()];
  const endpoint = `http://127.0.0.1:${gatewayPort}`;
  const daemons: ChildProcess[] = [];
  const start: StartDaemon = async (name, [program = '', ...args], env) => {
    daemons.push(spawn(program, args, { env: env as NodeJS.ProcessEnv, stdio: 'ignore' }));
    if (name === 'radosgw') await waitUntilServing(endpoint);
  };
  const stop = async () => {
    // An orderly stop takes seconds, and nothing has to be kept.
    for (const daemon of daemons) daemon.kill('SIGKILL');
    await rm(join(folder, '..'), { recursive: true, force: true });
  };
  try {
    const keys = { accessKey: ACCESS_KEY, secretKey: SECRET_KEY };
    await startCeph({ folder, monitorPort, gatewayPort, objects: 'memory', ...keys }, start);
    return { endpoint, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const START_MS = 60_000;

async function waitUntilServing(url: string): Promise<void> {
  for (const end = Date.now() + START_MS; !(await respondsAt(url)); await delay(50))
    if (Date.now() > end) throw new Error(`the RADOS gateway does not answer at ${url}`);
}
