// `mediary dev`: one command runs the service, simulated providers and a listener for a developer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runInProcess } from '../../../packages/cli/src/program.fixture.ts';
import { freePort } from '../../support/http/free-port.ts';
import {
  startWebhookReceiver,
  verifyWebhook,
  type WebhookReceiver,
} from '../../support/http/webhook-receiver.ts';
import { processesNaming } from '../../support/service/traces.ts';

const PROGRAM = resolve(import.meta.dirname, '../../../packages/cli/bin/mediary.js');

let folder: string;
let receiver: WebhookReceiver;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-dev-'));
  // Open to others: root's database server runs as somebody else, and would otherwise lie outside.
  await chmod(folder, 0o755);
  await mkdir(join(folder, '.mediary'), { mode: 0o755 });
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver?.stop();
  await rm(folder, { recursive: true, force: true });
});

type DevLine = { readonly part: string; readonly [member: string]: unknown };

/** Resolves when the service runs. */
async function startDev(port: number, ...flags: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'dev', '--json', '--port', String(port), ...flags], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  const lines = (): DevLine[] =>
    texts.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const findStart = () => lines().find(({ part }) => part === 'dev');
  await Promise.race([
    expect.poll(findStart, { timeout: 120_000, interval: 100 }).toBeDefined(),
    ended.then((code) => Promise.reject(new Error(`exit code ${code}: ${texts.stderr}`))),
  ]);
  return { child, ended, lines, start: findStart() as DevLine, stderr: () => texts.stderr };
}

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runInProcess(args, { folder, env: { HOME: folder, PATH: process.env['PATH'] ?? '', ...env } });

test('a developer gets keys, sees deliveries, and stops everything with Ctrl-C', async () => {
  const port = await freePort();
  const { child, ended, lines, start } = await startDev(port, '--forward-to', receiver.url('/hook'));
  const url = `http://127.0.0.1:${port}`;
  expect(start).toMatchObject({
    ...{ url, forward_to: receiver.url('/hook'), data_folder: join(folder, '.mediary') },
    console_url: expect.stringContaining(`${url}/console`),
    service_key: expect.any(String),
    operator_key: expect.any(String),
  });
  const env = { MEDIARY_URL: url };
  expect(await run(['trigger', 'asset.ready', '--real'], env)).toMatchObject({ code: 0 });
  const deliveries = () => lines().filter(({ part }) => part === 'webhooks');
  await expect
    .poll(deliveries, { timeout: 30_000 })
    .toContainEqual(expect.objectContaining({ type: 'asset.ready', status: 204 }));
  const [received] = receiver.received('/hook');
  expect(received && verifyWebhook(String(start['webhook_secret']), received)).toBeTruthy();
  const { stdout } = await run(['providers', '--json'], env);
  expect(stdout).toContain('cdnhost');
  const jobEnd = expect.objectContaining({ part: 'service', text: 'job ended' });
  await expect.poll(lines, { timeout: 30_000 }).toContainEqual(jobEnd);

  const busy = await run(['dev', '--port', String(port)]);
  expect([busy.code, busy.stderr]).toEqual([2, expect.stringContaining(`Port ${port} is in use.`)]);
  const running = await run(['dev', '--port', String(await freePort()), '--fresh']);
  expect([running.code, running.stderr]).toEqual([1, expect.stringContaining('runs, as process')]);

  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(await processesNaming(folder)).toEqual([]);

  const secrets = join(folder, '.mediary/secrets.json');
  const before = await readFile(secrets, 'utf8');
  const fresh = await startDev(port, '--fresh', '--no-simulators');
  expect(await readFile(secrets, 'utf8')).not.toBe(before);
  expect(fresh.start['webhook_secret']).toBe(start['webhook_secret']);
  const processes = await processesNaming(folder);
  const service = processes.find(({ parent }) => parent === fresh.child.pid);
  process.kill(service?.pid ?? 0, 'SIGTERM');
  expect(await fresh.ended).toBe(1);
  expect(fresh.stderr()).toContain('The service has ended: exit code 0');
});

test('a service that cannot start is named with its reason, and exits with 1', async () => {
  const { code, stdout, stderr } = await run(['dev', '--port', String(await freePort())], {
    ...{ DATA_DIR: join(folder, 'broken'), MAX_UPLOAD_BYTES: 'many' },
  });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/The service has ended: exit code 1: .*MAX_UPLOAD_BYTES/s),
  ]);
  expect(stdout).toContain('MAX_UPLOAD_BYTES');
});

test('--fresh empties no folder that another program filled', async () => {
  const other = join(folder, 'other');
  await run(['dev', '--port', String(await freePort())], { DATA_DIR: other, MAX_UPLOAD_BYTES: 'many' });
  const marker = join(other, '.mediary-dev.json');
  const copy = await mkdtemp(join(folder, 'copy-'));
  await writeFile(join(copy, '.mediary-dev.json'), await readFile(marker), { mode: 0o600 });
  await writeFile(join(copy, 'letter.txt'), 'kept');
  const filled = await mkdtemp(join(folder, 'filled-'));
  await writeFile(join(filled, 'letter.txt'), 'kept');
  for (const data of [copy, filled]) {
    const flags = ['--fresh', '--port', String(await freePort())];
    const { code, stderr } = await run(['dev', ...flags], { DATA_DIR: data });
    expect([code, stderr]).toEqual([2, expect.stringContaining('only a folder that mediary dev created')]);
    await access(join(data, 'letter.txt'));
  }
});

test('a folder without a service says what to do', async () => {
  const { code, stderr } = await run(['dev', '--repository', folder]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('is not a clone')]);
  expect(stderr).toMatch(/Clone the repository.*docker run/s);
  const unreachable = await run(['dev', '--url', 'http://127.0.0.1:1', '--service-key', 'k']);
  expect(unreachable).toMatchObject({ code: 7, stderr: expect.stringContaining('cannot be reached') });
});

test('a port in use by another program is refused before anything starts', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const { code, stdout, stderr } = await run(['dev', '--port', port], { DATA_DIR: join(folder, 'never') });
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('mediary dev --url')]);
  await expect(access(join(folder, 'never'))).rejects.toThrow();
  server.close();
});
