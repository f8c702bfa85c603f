// An operator tries a provider's settings and has it send its webhooks here; what is wrong is said in words.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScriptedPeer, startPeer } from '../../../test/support/scripted-peer.ts';
import { createSettings } from '../platform/settings.ts';
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

/** What it said, or why it failed. */
async function run(command: string, environment: Record<string, string | undefined> = {}): Promise<string> {
  const settings = createSettings({
    ...SET,
    CDNHOST_API_URL: peer.url,
    EDGEHOST_API_URL: peer.url,
    ...environment,
  });
  const config = {
    publicBaseUrl: settings.url('PUBLIC_BASE_URL'),
  };
  let said = '';
  const lent = {
    config,
    providers: openProviders(configureProviders(settings), { encoderSecrets: [], allowUnsigned: [] }),
    say: (text: string) => {
      said += text;
    },
  };
  return runProviderCommand(lent, command.split(' ')).then(
    () => said,
    (error: Error) => `FAILED ${error.message}`,
  );
}

describe('check', () => {
  test('says ok, what the provider can do, and what is not set', async () => {
    peer.answerWith({ body: { items: [], totalItems: 0 } });
    expect(await run('check cdnhost')).toBe(
      'cdnhost: ok\n  can: webhooks, uploads, inspection\n  not set: CDNHOST_TOKEN_AUTH_KEY\n',
    );
    peer.answerWith({ body: { result: [] } });
    expect(await run('check edgehost')).toMatch(
      /^edgehost: ok\n {2}can: .*dash\n {2}not set: EDGEHOST_CUSTOMER_SUBDOMAIN, EDGEHOST_SIGNING_KEY_ID/,
    );
  });

  test('names everything that is wrong, and no secret', async () => {
    peer.answerWith({ status: 401 });
    const said = await run('check cdnhost', { CDNHOST_STREAM_HOSTNAME: undefined });
    expect(said).toMatch(
      /^FAILED cdnhost is not as it should be:\n.*CDNHOST_STREAM_API_KEY.*\n.*CDNHOST_STREAM_HOSTNAME/,
    );
    expect(said).not.toContain('library-key');
  });

  test('of a provider that is not configured names what is not set', async () => {
    expect(await run('check edgehost', { EDGEHOST_ACCOUNT_ID: undefined })).toMatch(
      /^FAILED edgehost is not configured\. Not set: EDGEHOST_ACCOUNT_ID/,
    );
  });
});

describe('register', () => {
  test('has the webhooks sent to this service, and shows the secret and where it goes', async () => {
    peer.answerWith({ body: { result: { secret: 'new-secret' } } });
    expect(await run('register edgehost')).toMatch(
      /go to https:\/\/media\.example\/api\/v1\/webhooks\/stream\/edgehost\n[\s\S]*\n {2}EDGEHOST_STREAM_WEBHOOK_SECRET=new-secret\n/,
    );
    expect(JSON.parse(peer.requests.at(-1)?.body ?? '')).toEqual({
      notificationUrl: 'https://media.example/api/v1/webhooks/stream/edgehost',
    });
  });

  test.each(['http://127.0.0.1:8080', 'http://localhost', 'http://192.168.1.5', 'https://media.internal'])(
    'does not send a provider that is elsewhere to %s',
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

  test('needs to know its own address, and says where a provider has no such call', async () => {
    expect(await run('register edgehost', { PUBLIC_BASE_URL: undefined })).toContain(
      'FAILED PUBLIC_BASE_URL is not set',
    );
    expect(await run('register cdnhost')).toMatch(
      /FAILED .*console.* https:\/\/media\.example\/api\/v1\/webhooks\/stream\/cdnhost/,
    );
  });

  test('fails in words where the product refuses', async () => {
    peer.answerWith({ status: 403, body: { errors: [{ code: 10_000 }] } });
    expect(await run('register edgehost')).toBe(
      'FAILED The video host does not accept the credentials of this service (error 10000)',
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
])('anything else is told how to ask: %j', async (command) => {
  expect(await run(command)).toBe('FAILED Usage: npm run provider -- check|register cdnhost|edgehost');
});
