// `mediary events replay`: a developer's server receives stored events again, signed and in their order.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runInProcess } from '../../../packages/cli/src/program.fixture.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import {
  startWebhookReceiver,
  status,
  verifyWebhook,
  type WebhookReceiver,
} from '../../support/http/webhook-receiver.ts';
import { openUpload } from '../../support/media.ts';
import { asUser, call, SECRETS, startTestService, type TestService } from '../../support/service.ts';

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const TITLES = ['first', 'second', 'third'];
const TYPES = ['asset.created', ...TITLES.map(() => 'asset.updated')];

let service: TestService;
let receiver: WebhookReceiver;
let folder: string;
let id: string;
let other: string;
beforeAll(async () => {
  service = await startTestService();
  receiver = await startWebhookReceiver();
  folder = await mkdtemp(join(tmpdir(), 'mediary-replay-'));
  ({ asset_id: id } = await openUpload(service, 'ann'));
  ({ asset_id: other } = await openUpload(service, 'ben'));
  for (const title of TITLES)
    expectSuccess(await call(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { title } }));
});
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
  await rm(folder, { recursive: true, force: true });
});

const replay = (path: string, ...flags: readonly string[]) =>
  runInProcess(['events', 'replay', '--forward-to', receiver.url(path), ...flags], {
    folder,
    env: { HOME: folder, MEDIARY_URL: service.address, MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY },
  });

const typesAt = (path: string) => receiver.received(path).map(({ message }) => message.type);

test('the events of an asset arrive in their order, signed, with the ids of before', async () => {
  const run = await replay('/asset', '--asset', id, '--secret', SECRET);
  expect(run.code).toBe(0);
  expect(run.stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^TIME +TYPE +ASSET +ATTEMPTS +MS +RESULT$/),
    ...TYPES.map((type) => expect.stringMatching(RegExp(` ${type} +${id} +1 +\\d+ +204$`))),
  ]);
  const received = receiver.received('/asset');
  expect(typesAt('/asset')).toEqual(TYPES);
  for (const request of received) expect(verifyWebhook(SECRET, request)).toMatchObject({ asset: { id } });
  await replay('/again', '--asset', id);
  const ids = (path: string) => receiver.received(path).map(({ headers }) => headers['webhook-id']);
  expect(ids('/again')).toEqual(ids('/asset'));
});

test('a limit bounds them, and the position continues after it', async () => {
  const run = await replay('/limit', '--since', 'beginning', '--event', 'asset.updated', '--limit', '2');
  expect([run.code, typesAt('/limit')]).toEqual([0, ['asset.updated', 'asset.updated']]);
  const [, position = ''] = /The limit of 2 events is reached.*--since (\S+)/.exec(run.stderr) ?? [];
  await replay('/rest', '--since', position);
  expect(typesAt('/rest')).toEqual(['asset.updated']);
});

test('a time leaves out earlier events, and --owner those of others', async () => {
  await replay('/owner', '--since', 'beginning', '--owner', 'ben');
  expect(receiver.received('/owner').map(({ message }) => message.asset_id)).toEqual([other]);
  const future = new Date(Date.now() + 60_000).toISOString();
  const run = await replay('/future', '--since', future, '--silence', '2s');
  expect([run.code, typesAt('/future')]).toEqual([0, []]);
  expect(run.stderr).toContain('No stored event matches.');
});

test('an event is sent again until the server accepts it; one that it refuses is 1', async () => {
  let refusals = 1;
  receiver.respond('/retried', (response, received) => {
    refusals -= 1;
    status(refusals >= 0 ? 503 : 204)(response, received);
  });
  const retried = await replay('/retried', '--asset', other, '--json');
  expect([retried.code, JSON.parse(retried.stdout).items]).toEqual([
    0,
    [expect.objectContaining({ attempts: 2, status: 204, accepted: true })],
  ]);
  receiver.respond('/refused', (response, received) =>
    status(received.message.type === 'asset.created' ? 500 : 204)(response, received),
  );
  const refused = await replay('/refused', '--asset', id, '--retries', '0');
  expect([refused.code, typesAt('/refused')]).toEqual([1, TYPES]);
  expect(refused.stderr).toContain('did not accept 1 of 4 events');
});

test.each([
  [[], 'Name what to replay'],
  [['--since', 'yesterday'], 'expected a position'],
  [['--asset', 'a', '--retries', '9'], 'Expected a number from 0 to 5'],
])('the arguments %j are refused in words', async (flags, message) => {
  const { code, stdout, stderr } = await replay('/never', ...flags);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
});

test('an unknown asset is 4', async () => {
  expect(await replay('/never', '--asset', '019aab7c-0000-7c55-9f0e-00000000abcd')).toMatchObject({
    code: 4,
  });
});
