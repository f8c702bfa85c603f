// Tests the check of the settings of edgehost: it finds each wrong one.
import { expect, test } from 'vitest';
import {
  check,
  empty,
  type Environment,
  run,
  sims,
  useCheckedProviders,
} from '../../../test/support/providers/checked-providers.ts';

useCheckedProviders();

test('right settings are ok', async () => {
  expect(await check('edgehost')).toEqual({
    EDGEHOST_STREAM_API_TOKEN: 'ok: reads and writes the videos of EDGEHOST_ACCOUNT_ID',
    'webhook URL': 'ok: https://media.example/api/v1/webhooks/stream/edgehost is registered',
    EDGEHOST_STREAM_WEBHOOK_SECRET: 'ok: is the secret of the registered webhook',
    EDGEHOST_CUSTOMER_SUBDOMAIN: 'ok: plays the videos of the account',
    EDGEHOST_SIGNING_KEY_ID: 'ok: is a signing key of the account',
    EDGEHOST_SIGNING_KEY_PEM: 'ok: signs tokens that play a video of the account',
  });
});

test.each<[change: () => Environment, setting: string, finding: RegExp]>([
  [
    () => ({ EDGEHOST_STREAM_API_TOKEN: 'wrong' }),
    'EDGEHOST_STREAM_API_TOKEN',
    /^problem: .*does not accept(?!.*active)/,
  ],
  [
    () => ({ EDGEHOST_ACCOUNT_ID: 'other' }),
    'EDGEHOST_STREAM_API_TOKEN',
    /^problem: .*token is active: check the account/,
  ],
  [() => ({ EDGEHOST_ACCOUNT_ID: 'other' }), 'EDGEHOST_SIGNING_KEY_ID', /^not checked: /],
  [
    () => ({ PUBLIC_BASE_URL: 'https://other.example' }),
    'webhook URL',
    /^problem: https:\/\/media\.example.* is registered instead/,
  ],
  [() => ({ PUBLIC_BASE_URL: undefined }), 'webhook URL', /^not checked: PUBLIC_BASE_URL is not set/],
  [
    () => ({ EDGEHOST_STREAM_WEBHOOK_SECRET: 'wrong' }),
    'EDGEHOST_STREAM_WEBHOOK_SECRET',
    /^problem: is not the secret/,
  ],
  [
    () => ({ EDGEHOST_STREAM_WEBHOOK_SECRET: undefined }),
    'EDGEHOST_STREAM_WEBHOOK_SECRET',
    /^problem: is not set/,
  ],
  [
    () => ({
      EDGEHOST_STREAM_WEBHOOK_SECRET: 'next',
      EDGEHOST_STREAM_WEBHOOK_SECRET_PREVIOUS: sims.environment['EDGEHOST_STREAM_WEBHOOK_SECRET'],
    }),
    'EDGEHOST_STREAM_WEBHOOK_SECRET',
    /^ok: /,
  ],
  [
    () => ({ EDGEHOST_CUSTOMER_SUBDOMAIN: empty.edgehost.url }),
    'EDGEHOST_CUSTOMER_SUBDOMAIN',
    /^problem: .*Set it to 127/,
  ],
  [
    () => ({ EDGEHOST_CUSTOMER_SUBDOMAIN: 'http://127.0.0.1:1' }),
    'EDGEHOST_CUSTOMER_SUBDOMAIN',
    /^problem: cannot be reached/,
  ],
  [
    () => ({ EDGEHOST_CUSTOMER_SUBDOMAIN: undefined }),
    'EDGEHOST_CUSTOMER_SUBDOMAIN',
    /^not checked: is not set/,
  ],
  [
    () => ({ EDGEHOST_SIGNING_KEY_ID: 'unknown' }),
    'EDGEHOST_SIGNING_KEY_ID',
    /^problem: is not a signing key/,
  ],
  [
    () => ({ EDGEHOST_SIGNING_KEY_ID: undefined }),
    'EDGEHOST_SIGNING_KEY_PEM',
    /^problem: works only together/,
  ],
  [
    () => ({ EDGEHOST_SIGNING_KEY_PEM: empty.environment['EDGEHOST_SIGNING_KEY_PEM'] }),
    'EDGEHOST_SIGNING_KEY_PEM',
    /^problem: is not the key of EDGEHOST_SIGNING_KEY_ID/,
  ],
  [
    () => ({ EDGEHOST_SIGNING_KEY_ID: undefined, EDGEHOST_SIGNING_KEY_PEM: undefined }),
    'EDGEHOST_SIGNING_KEY_ID',
    /^not checked: is not set: edgehost does not protect/,
  ],
])('case %#: %s', async (change, setting, finding) => {
  expect((await check('edgehost', change()))[setting]).toMatch(finding);
});

test('an account without webhook URL and videos: nothing unchecked is ok', async () => {
  empty.edgehost.sendWebhooksTo(undefined);
  expect(await check('edgehost', {}, empty)).toMatchObject({
    'webhook URL': expect.stringMatching(/^problem: no webhook URL is registered\. Run npm run provider/),
    EDGEHOST_STREAM_WEBHOOK_SECRET: expect.stringMatching(/^not checked: /),
    EDGEHOST_CUSTOMER_SUBDOMAIN: expect.stringMatching(/^not checked: .*no ready video/),
    EDGEHOST_SIGNING_KEY_PEM: expect.stringMatching(/^not checked: .*ready video/),
  });
});

test('a part of the API that fails is not checked', async () => {
  sims.edgehost.setFault({ on: 'api', do: 'status', status: 500, route: 'keys-list' });
  expect(await check('edgehost')).toMatchObject({
    EDGEHOST_SIGNING_KEY_ID: expect.stringMatching(/^not checked: /),
    EDGEHOST_CUSTOMER_SUBDOMAIN: expect.stringMatching(/^ok: /),
  });
  sims.edgehost.clearFaults();
});

test('the table has a line for each setting', async () => {
  const { printed, error } = await run('check edgehost', {
    ...sims.environment,
    EDGEHOST_SIGNING_KEY_ID: 'unknown',
  });
  expect(printed.split('\n')).toHaveLength(8);
  expect(printed).toMatch(/^edgehost\n {2}ok {11}EDGEHOST_STREAM_API_TOKEN {7}reads and writes/);
  expect(printed).toMatch(/\n {2}problem {6}EDGEHOST_SIGNING_KEY_ID {9}is not a signing key/);
  expect(printed).toMatch(/\n {2}not checked {2}EDGEHOST_SIGNING_KEY_PEM {8}needs EDGEHOST_SIGNING_KEY_ID/);
  expect(error).toBe('edgehost: 1 problem');
});
