// Tests the check of the settings of cdnhost: it finds each wrong one.
import { expect, test } from 'vitest';
import {
  check,
  empty,
  type Environment,
  TOKEN_KEY,
  useCheckedProviders,
} from '../../../test/support/providers/checked-providers.ts';

useCheckedProviders();

test('right settings are ok; what its API does not show is not checked', async () => {
  expect(await check('cdnhost')).toEqual({
    CDNHOST_STREAM_API_KEY: 'ok: reads and writes the library CDNHOST_STREAM_LIBRARY_ID',
    CDNHOST_STREAM_READ_ONLY_API_KEY: 'ok: is the key that signs the webhooks of the library',
    CDNHOST_STREAM_HOSTNAME: 'ok: plays the newest ready video of the library',
    CDNHOST_TOKEN_AUTH_KEY: 'ok: opens the pull zone (403 without a token, 200 with one)',
    'webhook URL': expect.stringMatching(
      /^not checked: .*media\.example\/api\/v1\/webhooks\/stream\/cdnhost$/,
    ),
  });
});

test.each<[change: Environment, setting: string, finding: RegExp]>([
  [{ CDNHOST_STREAM_API_KEY: 'wrong' }, 'CDNHOST_STREAM_API_KEY', /^problem: .*does not accept/],
  [{ CDNHOST_STREAM_API_KEY: 'wrong' }, 'CDNHOST_STREAM_HOSTNAME', /^not checked: /],
  [{ CDNHOST_STREAM_LIBRARY_ID: '1' }, 'CDNHOST_STREAM_API_KEY', /^problem: .*CDNHOST_STREAM_LIBRARY_ID/],
  [
    { CDNHOST_STREAM_API_KEY: 'simulated-read-only-key-of-a-library' },
    'CDNHOST_STREAM_API_KEY',
    /^problem: only reads the library/,
  ],
  [
    { CDNHOST_STREAM_READ_ONLY_API_KEY: 'wrong' },
    'CDNHOST_STREAM_READ_ONLY_API_KEY',
    /^problem: does not read the library/,
  ],
  [
    { CDNHOST_STREAM_READ_ONLY_API_KEY: 'simulated-key-of-a-library-that-may-write' },
    'CDNHOST_STREAM_READ_ONLY_API_KEY',
    /^problem: writes the library/,
  ],
  [
    { CDNHOST_STREAM_READ_ONLY_API_KEY: undefined },
    'CDNHOST_STREAM_READ_ONLY_API_KEY',
    /^problem: is not set: webhooks are rejected/,
  ],
  [{ CDNHOST_STREAM_HOSTNAME: undefined }, 'CDNHOST_STREAM_HOSTNAME', /^problem: is not set/],
  [
    { CDNHOST_STREAM_HOSTNAME: 'http://127.0.0.1:1' },
    'CDNHOST_STREAM_HOSTNAME',
    /^problem: cannot be reached/,
  ],
  [{ CDNHOST_TOKEN_AUTH_KEY: 'wrong' }, 'CDNHOST_TOKEN_AUTH_KEY', /^problem: is refused \(403\)/],
  [{ CDNHOST_TOKEN_AUTH_KEY: undefined }, 'CDNHOST_STREAM_HOSTNAME', /^problem: answers 403.*tokens/],
  [{ CDNHOST_TOKEN_AUTH_KEY: undefined }, 'CDNHOST_TOKEN_AUTH_KEY', /^not checked: is not set/],
  [{ PUBLIC_BASE_URL: undefined }, 'webhook URL', /^not checked: .*PUBLIC_BASE_URL/],
])('%o: %s', async (change, setting, finding) => {
  expect((await check('cdnhost', change))[setting]).toMatch(finding);
});

test('the host of another library is a problem', async () => {
  const change = { CDNHOST_STREAM_HOSTNAME: empty.cdnhost.url, CDNHOST_TOKEN_AUTH_KEY: undefined };
  expect(await check('cdnhost', change)).toMatchObject({
    CDNHOST_STREAM_HOSTNAME: expect.stringMatching(/^problem: answers 404 for a ready video/),
  });
});

test('a library without videos and tokens: nothing unchecked is ok', async () => {
  expect(await check('cdnhost', { CDNHOST_TOKEN_AUTH_KEY: TOKEN_KEY }, empty)).toMatchObject({
    CDNHOST_STREAM_HOSTNAME: expect.stringMatching(/^not checked: .*no ready video/),
    CDNHOST_TOKEN_AUTH_KEY: expect.stringMatching(/^problem: .*everyone can play private videos/),
  });
});
