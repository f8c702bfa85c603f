// Tests the onprem provider, and that reports of our own encoder are distinguished from those of third-party
// encoders.
import { describe, expect, test } from 'vitest';
import { toSecret } from '../../auth/secret.ts';
import { createSettings } from '../../platform/settings/read-settings.ts';
import type { WebhookRequest } from '../provider.ts';
import { providerContract } from '../provider.contract.ts';
import { openOnprem, readOnpremSettings } from './onprem-provider.ts';
import { signOnprem } from './onprem-signature.ts';

const OWN = toSecret('own-encoder-secret');
const ASSET = '11111111-2222-4333-8444-555555555555';
const opened = (environment: Record<string, string>) =>
  openOnprem(readOnpremSettings(createSettings(environment)), {
    encoderSecrets: [OWN],
    allowUnsigned: false,
  });
const signedBy =
  (key: typeof OWN) =>
  (text: string): WebhookRequest => {
    const body = Buffer.from(text);
    return {
      headers: (name) => (name === 'x-onprem-signature' ? [signOnprem(body, key)] : []),
      body,
      now: new Date(),
    };
  };
const report = (status: string, more = {}) => JSON.stringify({ asset_id: ASSET, status, ...more });
const configured = opened({ ONPREM_WEBHOOK_SECRET: 'onprem-secret' });

describe('onprem', () => {
  providerContract({
    configured,
    bare: opened({}),
    signed: signedBy(toSecret('onprem-secret')),
    samples: [
      [
        report('ready', { playback: { hls: 'https://v.example/a.m3u8' } }),
        { report: { event: 'succeeded' }, ref: { assetId: ASSET }, isOwnEncoder: false },
      ],
      [report('failed'), { report: { event: 'failed' } }],
      [report('processing', { progress: 40 }), { report: { event: 'started', progress: 40 } }],
      [report('paused'), { reason: 'not_actionable' }],
    ],
  });

  test('accepts the reports of our own encoder, with and without a third-party secret', () => {
    const ours = signedBy(OWN)(report('processing', { attempt: 1, run: 1 }));
    for (const provider of [configured, opened({})])
      expect(provider.verify(ours)).toMatchObject({ isOwnEncoder: true });
  });
});
