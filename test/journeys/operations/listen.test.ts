// `mediary listen`: a developer's server receives the events of a service as signed webhooks.
import { Webhook } from 'standardwebhooks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectSuccess } from '../../support/http/envelope.ts';
import { startWebhookReceiver, status, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import { openUpload } from '../../support/media.ts';
import { type CliRun, runCli } from '../../support/service/cli.ts';
import { asUser, call, startTestService, type TestService, tokenOf } from '../../support/service.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let service: TestService;
let receiver: WebhookReceiver;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  receiver = await startWebhookReceiver();
  folder = await mkdtemp(join(tmpdir(), 'mediary-listen-'));
});
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Until this text is printed. */
const listen = (path: string, flags: readonly string[], until: string): Promise<CliRun> =>
  runCli(['listen', '--forward-to', receiver.url(path), '--since', 'beginning', ...flags], {
    folder,
    env: { MEDIARY_URL: service.address, MEDIARY_TOKEN: tokenOf('ann') },
    interrupt: { after: until, signal: 'SIGINT' },
  });

const rename = async (id: string, title: string): Promise<void> => {
  expectSuccess(await call(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { title } }));
};

test('events arrive signed, in their order, and again until the server accepts them', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  await rename(id, 'first');
  let refusals = 2;
  receiver.respond('/hook', (response, received) => {
    refusals -= 1;
    status(refusals >= 0 ? 503 : 204)(response, received);
  });
  const run = await listen('/hook', ['--secret', SECRET], 'asset.updated');
  expect(run.code).toBe(130);
  expect(run.stdout).toMatch(RegExp(`asset.created +${id} +204 +\\(\\d+ ms, 3 attempts\\)`));
  expect(run.stderr).toMatch(/mediary listen --forward-to \S+ --since \S+/);

  const received = receiver.received('/hook');
  const types = ['asset.created', 'asset.created', 'asset.created', 'asset.updated'];
  expect(received.map(({ message }) => message.type)).toEqual(types);
  expect(new Set(received.slice(0, 3).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  for (const { body, headers, message } of received) {
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ asset_id: id, asset: { id } });
    expect(Object.keys(message)).not.toContain('position');
  }
});

test('only the chosen types are sent, with a secret that is printed', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  await rename(id, 'second');
  const { stderr } = await listen('/chosen', ['--event', 'asset.updated', '--json'], `"asset_id":"${id}"`);
  const [secret = ''] = /whsec_\S+/.exec(stderr) ?? [];
  const received = receiver.received('/chosen');
  expect(new Set(received.map(({ message }) => message.type))).toEqual(new Set(['asset.updated']));
  for (const { body, headers } of received)
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
});

test.each([
  [['--forward-to', 'localhost:3000'], 'Expected a URL such as http://localhost:3000/webhooks/media'],
  [['--forward-to', 'http://127.0.0.1:1', '--secret', 'abc'], 'Expected whsec_ and Base64'],
  [[], "required option '--forward-to <url>' not specified"],
])('the arguments %j are refused in words', async (flags, message) => {
  const { code, stderr } = await runCli(['listen', ...flags], { folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
