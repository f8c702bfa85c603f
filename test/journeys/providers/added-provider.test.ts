// A provider that is added to the list works everywhere: settings, uploads, webhooks, playback and the
// operators' overview.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toSecret } from '../../../service/src/auth/secret.ts';
import { hmacSha256 } from '../../../service/src/auth/signature.ts';
import { fixture } from '../../support/providers/fixture-provider.ts';
import { openUpload, readAsset } from '../../support/media.ts';
import { type ScriptedPeer, startPeer } from '../../support/http/scripted-peer.ts';
import { asOperator, call, startTestService, type TestService } from '../../support/service.ts';

let peer: ScriptedPeer;
let service: TestService;
beforeAll(async () => {
  peer = await startPeer();
  service = await startTestService(
    { FIXTURE_WEBHOOK_SECRET: 'fixture-secret', FIXTURE_API_KEY: 'fixture-key', FIXTURE_API_URL: peer.url },
    { addedProviders: [fixture] },
  );
});
afterAll(async () => {
  await service.stop();
  await peer.stop();
});

const deliver = (report: object, key = 'fixture-secret') => {
  const body = JSON.stringify(report);
  const signature = hmacSha256(toSecret(key).key, Buffer.from(body)).toString('hex');
  return call<{ processed: boolean }>(service, 'POST /webhooks/stream/fixture', {
    headers: { 'x-fixture-signature': signature },
    body,
  });
};

test('a video is uploaded to it, becomes ready by its webhook, and plays from its URL', async () => {
  peer.answerWith({ body: { id: 'v1', address: 'https://up.example/v1' } });
  const opened = await openUpload(service, 'ann', { provider: 'fixture' });
  expect(opened.upload_url).toBe('https://up.example/v1');

  const delivered = await deliver({ id: 'v1', state: 'done', hls: 'https://v.example/v1.m3u8' });
  expect(delivered.body.data).toEqual({ processed: true });
  expect(await readAsset(service, 'ann', opened.asset_id)).toMatchObject({
    provider: 'fixture',
    provider_video_id: 'v1',
    stream_status: 'ready',
    playback: { hls: 'https://v.example/v1.m3u8' },
  });
});

test('a webhook with another signature is rejected', async () => {
  expect((await deliver({ id: 'v1', state: 'done' }, 'another-secret')).status).toBe(401);
});

test('operators see it, and the asset list can be filtered by it', async () => {
  const overview = await call<{ items: { name: string; configured: boolean }[] }>(
    service,
    'GET /admin/providers',
    {
      headers: asOperator,
    },
  );
  expect(overview.body.data.items).toContainEqual(
    expect.objectContaining({ name: 'fixture', configured: true }),
  );
});

test('WEBHOOKS_ALLOW_UNSIGNED cannot name a provider that requires signatures', async () => {
  const started = startTestService({ WEBHOOKS_ALLOW_UNSIGNED: 'fixture' }, { addedProviders: [fixture] });
  await expect(started).rejects.toThrow('WEBHOOKS_ALLOW_UNSIGNED may name edgehost and onprem only');
});
