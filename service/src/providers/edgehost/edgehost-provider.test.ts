// Tests edgehost with the provider contract.
import { describe, expect, test } from 'vitest';
import { toSecret } from '../../auth/secret.ts';
import { createSettings } from '../../platform/settings/read-settings.ts';
import { providerContract } from '../provider.contract.ts';
import { openEdgehost, readEdgehostSettings } from './edgehost-provider.ts';
import { NOW, SET, UID } from '../../../../test/support/providers/edgehost-api.ts';
import { signEdgehost } from './edgehost-signatures.ts';

type Environment = Record<string, string | undefined>;
const opened = (environment: Environment) =>
  openEdgehost(readEdgehostSettings(createSettings(environment)), false);
const webhook = (state: string, more = {}) => JSON.stringify({ uid: UID, status: { state, ...more } });

describe('edgehost', () => {
  providerContract({
    configured: opened(SET),
    bare: opened({}),
    signed(text) {
      const [body, now] = [Buffer.from(text), new Date()];
      return {
        headers: (name) =>
          name === 'webhook-signature'
            ? [signEdgehost(body, toSecret('edgehost-secret'), Math.floor(now.getTime() / 1000))]
            : [],
        body,
        now,
      };
    },
    samples: [
      [webhook('ready', { pctComplete: '100.000000' }), { report: { event: 'succeeded', complete: true } }],
      [webhook('ready', { pctComplete: '39.0' }), { report: { complete: false } }],
      [
        webhook('error', { errReasonCode: 'ERR_NON_VIDEO' }),
        { report: { event: 'failed', failure: { code: 'not_media' }, providerCode: 'ERR_NON_VIDEO' } },
      ],
      [webhook('inprogress'), { reason: 'not_actionable' }],
    ],
  });

  test('signs only private videos, and only with key id and key', () => {
    const video = {
      videoId: UID,
      urls: { hls: `https://c.example/${UID}/a.m3u8`, dash: null, thumbnail: null },
      isPrivate: true,
      expires: NOW,
    };
    expect(opened(SET).sign({ ...video, isPrivate: false })).toBeUndefined();
    for (const name of ['EDGEHOST_SIGNING_KEY_ID', 'EDGEHOST_SIGNING_KEY_PEM'])
      expect(opened({ ...SET, [name]: undefined }).sign(video)).toBeUndefined();
  });

  test.each([
    'no key',
    '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
    Buffer.from('no key').toString('base64'),
  ])('an invalid signing key is a settings problem: %j', (pem) => {
    const settings = createSettings({ ...SET, EDGEHOST_SIGNING_KEY_PEM: pem });
    readEdgehostSettings(settings);
    expect(settings.problems).toEqual([expect.stringContaining('EDGEHOST_SIGNING_KEY_PEM')]);
  });
});
