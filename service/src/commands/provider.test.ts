// Tests the command that registers the webhook URL of a provider, and its usage.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScriptedPeer, startPeer } from '../../../test/support/http/scripted-peer.ts';
import { createSettings } from '../platform/settings/read-settings.ts';
import { configureProviders, openProviders } from '../providers/registry.ts';
import { runProviderCommand } from './provider.ts';

let peer: ScriptedPeer;
beforeAll(async () => {
  peer = await startPeer();
});
afterAll(() => peer.stop());

const SET = {
  CDNHOST_STREAM_LIBRARY_ID: '4242',
  CDNHOST_STREAM_API_KEY: 'library-key',
  CDNHOST_STREAM_READ_ONLY_API_KEY: 'read-only-key',
  CDNHOST_STREAM_HOSTNAME: 'vz-1.example',
  EDGEHOST_ACCOUNT_ID: 'account-1',
  EDGEHOST_STREAM_API_TOKEN: 'api-token',
  EDGEHOST_STREAM_WEBHOOK_SECRET: 'webhook-secret',
  PUBLIC_BASE_URL: 'https://media.example',
};

/** Returns the printed text, or `FAILED` and the error message. */
async function run(command: string, environment: Record<string, string | undefined> = {}): Promise<string> {
  const settings = createSettings({
    ...SET,
    CDNHOST_API_URL: peer.url,
    EDGEHOST_API_URL: peer.url,
    ...environment,
  });
  const config = {
    publicBaseUrl: settings.text('PUBLIC_BASE_URL'),
  };
  let printed = '';
  const context = {
    config,
    providers: openProviders(configureProviders(settings), { encoderSecrets: [], allowUnsigned: [] }),
    print: (text: string) => {
      printed += text;
    },
  };
  return runProviderCommand(context, command.split(' ')).then(
    () => printed,
    (error: Error) => `FAILED ${error.message}`,
  );
}

test('check reports the missing settings of a provider that is not configured', async () => {
  expect(await run('check edgehost', { EDGEHOST_ACCOUNT_ID: undefined })).toMatch(
    /^FAILED edgehost is not configured\. Not set: EDGEHOST_ACCOUNT_ID/,
  );
});

describe('register', () => {
  test('registers the webhook URL and prints the secret with its setting', async () => {
    peer.answerWith({ body: { result: { secret: 'new-secret' } } });
    expect(await run('register edgehost')).toBe(
      'edgehost sends its webhooks to https://media.example/api/v1/webhooks/stream/edgehost\n' +
        'The secret is shown only once. Set it and restart the service:\n\n' +
        '  EDGEHOST_STREAM_WEBHOOK_SECRET=new-secret\n\n',
    );
    expect(JSON.parse(peer.requests.at(-1)?.body ?? '')).toEqual({
      notificationUrl: 'https://media.example/api/v1/webhooks/stream/edgehost',
    });
  });

  test.each(['http://127.0.0.1:8080', 'http://localhost', 'http://192.168.1.5', 'https://media.internal'])(
    'rejects %s, which a provider on the internet cannot reach',
    async (url) => {
      const before = peer.requests.length;
      expect(await run('register edgehost', { PUBLIC_BASE_URL: url, EDGEHOST_API_URL: undefined })).toContain(
        `PUBLIC_BASE_URL is ${url}, which edgehost cannot reach`,
      );
      expect(peer.requests).toHaveLength(before);
      peer.answerWith({ body: { result: { secret: 'new-secret' } } });
      expect(await run('register edgehost', { PUBLIC_BASE_URL: url })).toContain('new-secret');
    },
  );

  test('needs PUBLIC_BASE_URL; refers to the console of a provider without a registration API', async () => {
    expect(await run('register edgehost', { PUBLIC_BASE_URL: undefined })).toContain(
      'FAILED PUBLIC_BASE_URL is not set',
    );
    expect(await run('register cdnhost')).toMatch(
      /FAILED .*console.* https:\/\/media\.example\/api\/v1\/webhooks\/stream\/cdnhost/,
    );
  });

  test('reports that the provider rejects the credentials', async () => {
    peer.answerWith({ status: 403, body: { errors: [{ code: 10_000 }] } });
    expect(await run('register edgehost')).toBe(
      'FAILED The video provider rejects the configured credentials (error 10000)',
    );
  });
});

test.each([
  '',
  'check',
  'check onprem',
  'check elsewhere',
  'forget cdnhost',
  'constructor cdnhost',
  'check constructor',
])('prints the usage for %j', async (command) => {
  expect(await run(command)).toBe(
    'FAILED Usage: npm run provider -- check|register cdnhost|edgehost [--json]',
  );
});
