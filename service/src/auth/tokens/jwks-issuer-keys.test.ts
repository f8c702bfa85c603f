// How the keys of an identity provider are fetched: when, how often, and what happens when that fails.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createSigningKey,
  type IdentityProvider,
  signToken,
  startIdentityProvider,
} from '../../../../test/support/http/identity-provider.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { openJwksIssuerKeys } from './jwks-issuer-keys.ts';

const first = createSigningKey('ES256', 'first');
const second = createSigningKey('ES256', 'second');
const MINUTE_MS = 60_000;
const COOLDOWN_MS = 5_000;

let provider: IdentityProvider;
let failures: unknown[];
let now: number;
beforeEach(async () => {
  provider = await startIdentityProvider();
  failures = [];
  now = 0;
});
afterEach(() => provider.stop());

const open = (url = provider.jwksUrl): IssuerKeys =>
  openJwksIssuerKeys({ url, onError: (error) => failures.push(error), now: () => now });

/** The payload, or why there is none. */
const verify = async (keys: IssuerKeys, key = first): Promise<string> => {
  const result = await keys.verify(signToken(key, 'payload'));
  return typeof result === 'string' ? result : Buffer.from(result).toString();
};
const UNAVAILABLE = {
  code: 'UNAVAILABLE',
  retryAfterSeconds: 5,
  details: { reason: 'issuer_unavailable' },
};

describe('a new key', () => {
  test('is fetched when a token names it, once for all tokens that arrive together', async () => {
    provider.publish(first.jwk);
    const keys = open();
    expect(await verify(keys)).toBe('payload');
    provider.publish(first.jwk, second.jwk);
    expect(await Promise.all([verify(keys, second), verify(keys, second), verify(keys)])).toEqual([
      'payload',
      'payload',
      'payload',
    ]);
    expect(provider.fetches()).toBe(2);
  });

  test('is not looked for again within the cooldown, however many tokens name unknown keys', async () => {
    provider.publish(first.jwk);
    const keys = open();
    for (let count = 0; count < 20; count++) expect(await verify(keys, second)).toBe('unknown_key');
    expect(provider.fetches()).toBe(2);
    provider.publish(second.jwk);
    now += COOLDOWN_MS;
    expect(await verify(keys, second)).toBe('payload');
    expect(await verify(keys, first)).toBe('unknown_key');
    expect(provider.fetches()).toBe(3);
  });

  test('replaces a removed one, which no longer counts after ten minutes', async () => {
    provider.publish(first.jwk);
    const keys = open();
    expect(await verify(keys)).toBe('payload');
    provider.publish(second.jwk);
    now += 10 * MINUTE_MS;
    expect(await verify(keys)).toBe('payload');
    await expect.poll(() => verify(keys)).toBe('unknown_key');
  });
});

describe('an identity provider that is down', () => {
  test('does not matter to tokens of known keys for a day', async () => {
    provider.publish(first.jwk);
    const keys = open();
    expect(await verify(keys)).toBe('payload');
    provider.answer((response) => response.writeHead(503).end());
    for (let hour = 1; hour < 24; hour++) {
      now += 60 * MINUTE_MS;
      expect(await verify(keys)).toBe('payload');
    }
    await expect(verify(keys, second)).rejects.toMatchObject(UNAVAILABLE);
    now += 60 * MINUTE_MS;
    await expect(verify(keys)).rejects.toMatchObject(UNAVAILABLE);
  });

  test('is asked again after the cooldown, not by each token', async () => {
    provider.answer((response) => response.writeHead(500).end());
    const keys = open();
    for (let count = 0; count < 20; count++) await expect(verify(keys)).rejects.toMatchObject(UNAVAILABLE);
    expect(provider.fetches()).toBe(1);
    expect(failures).toHaveLength(1);
    provider.publish(first.jwk);
    now += COOLDOWN_MS;
    expect(await verify(keys)).toBe('payload');
  });

  test('and does not answer at all', async () => {
    provider.answer(() => undefined);
    const keys = open();
    await Promise.all([
      expect(verify(keys)).rejects.toMatchObject(UNAVAILABLE),
      expect(verify(keys)).rejects.toMatchObject(UNAVAILABLE),
    ]);
    expect(provider.fetches()).toBe(1);
    expect(String(failures)).toContain('timeout');
  });
});

describe('an answer without usable keys', () => {
  test.each<[string, Parameters<IdentityProvider['answer']>[0]]>([
    ['a redirect', (response) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['a page', (response) => response.end('<html></html>')],
    ['JSON of another kind', (response) => response.end('{"keys":{}}')],
    ['null', (response) => response.end('null')],
    ['too many bytes', (response) => response.end(JSON.stringify({ keys: ['x'.repeat(300_000)] }))],
    ['a cut connection', (response) => response.destroy()],
  ])('is a failure: %s', async (_what, respond) => {
    provider.serve('/elsewhere', (_request, response) => response.end(JSON.stringify({ keys: [first.jwk] })));
    provider.answer(respond);
    await expect(verify(open())).rejects.toMatchObject(UNAVAILABLE);
    expect(failures).toHaveLength(1);
  });

  test('that is empty means that there is no key', async () => {
    provider.publish();
    expect(await verify(open())).toBe('unknown_key');
    expect(failures).toEqual([]);
  });
});
