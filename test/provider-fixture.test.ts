// The contract holds for a provider that nobody has thought of yet: what a new one has to bring is in
// docs/guides/add-a-provider.md.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toSecret } from '../service/src/auth/secret.ts';
import { hmacSha256 } from '../service/src/auth/signature.ts';
import { createSettings } from '../service/src/platform/settings/read-settings.ts';
import { hostedApiContract, ORDER } from '../service/src/providers/hosted-api.contract.ts';
import type { HostedApi } from '../service/src/providers/provider.ts';
import { providerContract } from '../service/src/providers/provider.contract.ts';
import { openFixture, readFixtureSettings } from './support/providers/fixture-provider.ts';
import { type ScriptedPeer, startPeer } from './support/http/scripted-peer.ts';

const SET = { FIXTURE_WEBHOOK_SECRET: 'fixture-secret', FIXTURE_API_KEY: 'fixture-key' };
const opened = (environment: Record<string, string>, limits?: Parameters<typeof openFixture>[1]) =>
  openFixture(readFixtureSettings(createSettings(environment)), limits);
const webhook = (state: string, more = {}) => JSON.stringify({ id: 'v1', state, ...more });

describe('a minimal provider', () => {
  providerContract({
    configured: opened(SET),
    bare: opened({}),
    signed(text) {
      const body = Buffer.from(text);
      return {
        headers: (name) =>
          name === 'x-fixture-signature'
            ? [hmacSha256(toSecret('fixture-secret').key, body).toString('hex')]
            : [],
        body,
        now: new Date(),
      };
    },
    samples: [
      [
        webhook('done', { hls: 'https://v.example/a.m3u8' }),
        { report: { event: 'succeeded' }, ref: { providerVideoId: 'v1' } },
      ],
      [webhook('broken'), { report: { event: 'failed' } }],
      [webhook('encoding'), { report: { event: 'started' } }],
      [webhook('resting'), { reason: 'not_actionable' }],
    ],
  });
});

describe('its interface', () => {
  let peer: ScriptedPeer;
  beforeAll(async () => {
    peer = await startPeer();
  });
  afterAll(() => peer.stop());
  const api = (limits?: Parameters<typeof openFixture>[1]) =>
    opened({ ...SET, FIXTURE_API_URL: peer.url }, limits).api as HostedApi;
  const VIDEO = {
    id: 'v1',
    note: ORDER.assetId,
    made: '2026-01-01T10:00:00Z',
    state: 'done',
    hls: 'https://v.example/a.m3u8',
    address: 'https://up.example/v1',
  };

  hostedApiContract({
    open: api,
    peer: () => peer,
    commands: { remove: (videoId) => ({ method: 'DELETE', path: `/${videoId}` }) },
    base: '/videos',
    secrets: ['fixture-key'],
    answers: {
      prepareUpload: { body: VIDEO },
      inspect: { body: VIDEO },
      remove: {},
      list: { body: { videos: [VIDEO] } },
    },
  });

  test('stores the asset id with the video that it creates', async () => {
    peer.answerWith({ body: VIDEO });
    expect(await api().prepareUpload(ORDER)).toMatchObject({
      videoId: 'v1',
      target: { protocol: 'put', url: VIDEO.address, max_bytes: 1000 },
    });
    expect(peer.requests.at(-1)).toMatchObject({
      method: 'POST',
      path: '/videos',
      body: JSON.stringify({ note: ORDER.assetId }),
    });
  });
});
