// `mediary trigger`: a server receives a sample of each event, and the service produces real ones.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventMessage } from '@mediary/contract/schemas/events';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runInProcess } from '../../../packages/cli/src/program.fixture.ts';
import { PUBLISHED_EVENT_TYPES } from '@mediary/contract/enums';
import { expectSuccess } from '../../support/http/envelope.ts';
import {
  startWebhookReceiver,
  status,
  verifyWebhook,
  type WebhookReceiver,
} from '../../support/http/webhook-receiver.ts';
import { asService, call, SECRETS, startTestService, type TestService } from '../../support/service.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const ASSET_ID = '019aab7c-0000-7c55-9f0e-00000000abcd';
const schema = Compile(EventMessage);

let service: TestService;
let receiver: WebhookReceiver;
let folder: string;
beforeAll(async () => {
  service = await startTestService({ OUTBOUND_ALLOW_PRIVATE: 'webhooks' });
  receiver = await startWebhookReceiver();
  folder = await mkdtemp(join(tmpdir(), 'mediary-trigger-'));
});
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
  await rm(folder, { recursive: true, force: true });
});

const trigger = (...args: readonly string[]) =>
  runInProcess(['trigger', ...args], {
    folder,
    env: { HOME: folder, MEDIARY_URL: service.address, MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY },
  });

describe('a sample', () => {
  test.each(PUBLISHED_EVENT_TYPES)('of %s is signed, and has the form of the contract', async (type) => {
    const path = `/${type}`;
    const flags = ['--secret', SECRET, '--asset-id', ASSET_ID, '--external-id', 'order-1', '--owner', 'ann'];
    const { code, stdout } = await trigger(type, '--to', receiver.url(path), ...flags);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(RegExp(`^${type} +${ASSET_ID} +204 +\\(\\d+ ms`)),
    ]);
    const [received, ...others] = receiver.received(path);
    if (!received) throw new Error('nothing was received');
    expect(others).toEqual([]);
    const message = verifyWebhook(SECRET, received);
    expect([...schema.Errors(message)]).toEqual([]);
    expect(message).toMatchObject({
      ...{ type, asset_id: ASSET_ID, owner_user_id: 'ann' },
      asset: { id: ASSET_ID, external_id: 'order-1' },
    });
    expect(received.headers).toMatchObject({
      'webhook-id': received.message.id,
      'content-type': 'application/json',
    });
  });

  test('verifies with the secret that is printed', async () => {
    const { stderr } = await trigger('asset.ready', '--to', receiver.url('/printed'));
    const [secret = ''] = /whsec_\S+/.exec(stderr) ?? [];
    for (const received of receiver.received('/printed'))
      expect(verifyWebhook(secret, received)).toBeTruthy();
    expect(receiver.received('/printed')).toHaveLength(1);
  });

  test('that is not accepted, or not received, exits with 1', async () => {
    receiver.respond('/broken', status(500));
    const refused = await trigger('asset.ready', '--to', receiver.url('/broken'), '--json');
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([
      1,
      expect.objectContaining({ status: 500, accepted: false, attempts: 1 }),
    ]);
    const unreachable = await trigger('asset.ready', '--to', 'http://127.0.0.1:1/');
    expect(unreachable).toMatchObject({ code: 1, stdout: expect.stringContaining('no response') });
  });

  test('goes to the URL of an endpoint, signed with its secret', async () => {
    const json = { url: receiver.url('/endpoint'), enabled: false };
    const answer = await call(service, 'POST /webhook-endpoints', {
      headers: asService,
      json,
    });
    const { id, secret } = expectSuccess(answer) as { id: string; secret: string };
    expect(await trigger('asset.ready', '--endpoint', id, '--secret', secret)).toMatchObject({ code: 0 });
    const [received] = receiver.received('/endpoint');
    expect(received && verifyWebhook(secret, received)).toMatchObject({ type: 'asset.ready' });
    const without = await trigger('asset.ready', '--endpoint', id);
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('--secret') });
    const unknown = await trigger('asset.ready', '--endpoint', ASSET_ID, '--secret', SECRET);
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining('There is no endpoint') });
  });
});

const UNREAL = ['asset.progress', 'asset.delayed'];
const REAL_TYPES = PUBLISHED_EVENT_TYPES.filter((type) => !UNREAL.includes(type));

describe('--real', () => {
  test.each(REAL_TYPES)('makes the service produce %s', async (type) => {
    const id = `real-${type}`;
    const run = await trigger(type, '--real', '--external-id', id, '--owner', 'ann', '--json');
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('mediary rm ')]);
    const event = JSON.parse(run.stdout);
    expect([...schema.Errors(event)]).toEqual([]);
    expect(event).toMatchObject({ type, owner_user_id: 'ann', asset: { external_id: id } });
    if (type === 'asset.failed') expect(event.asset.failure).toMatchObject({ code: expect.any(String) });
  });

  test.each(UNREAL)('cannot produce %s, and names the others', async (type) => {
    const { code, stderr } = await trigger(type, '--real');
    expect([code, stderr]).toEqual([2, expect.stringContaining(REAL_TYPES.join(', '))]);
  });

  test('asks before it uploads to another machine', async () => {
    const { code, stderr } = await trigger('asset.ready', '--real', '--url', 'https://media.test');
    expect([code, stderr]).toEqual([2, expect.stringContaining('--allow-remote')]);
  });
});

test('--list has every type with its sentence', async () => {
  const { code, stdout } = await trigger('--list');
  expect(code).toBe(0);
  for (const type of PUBLISHED_EVENT_TYPES)
    expect(stdout).toMatch(RegExp(`^${type} +(?:yes|no) +[A-Z].*\\.$`, 'm'));
});

test.each([
  [['asset.nope', '--to', 'http://127.0.0.1:1'], 'Allowed choices are asset.created'],
  [['asset.ready'], 'Name the receiver: --to <url>, or --endpoint <id>'],
  [[], 'mediary trigger --list'],
  [['asset.ready', '--list'], '--list prints all types'],
  [['--list', '--to', 'http://127.0.0.1:1'], 'cannot be used with'],
  [['asset.ready', '--to', 'localhost:3000'], 'Expected a URL such as'],
  [['asset.ready', '--to', 'http://127.0.0.1:1', '--asset-id', 'order-1'], '--asset-id is no UUID'],
  [['asset.ready', '--to', 'http://127.0.0.1:1', '--timeout', '5s'], '--timeout needs --real'],
  [['asset.ready', '--to', 'http://127.0.0.1:1', '--real'], 'cannot be used with'],
])('the arguments %j are refused in words', async (args, message) => {
  const { code, stdout, stderr } = await trigger(...args);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
});
