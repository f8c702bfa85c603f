// Access tokens of an identity provider: its keys rotate while the service runs, and it is down for a while.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import {
  createSigningKey,
  type IdentityProvider,
  type SigningKey,
  signToken,
  startIdentityProvider,
} from '../../support/http/identity-provider.ts';
import { VIDEO } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

const AUDIENCE = 'https://media.example.com';
const [before, after, latest] = (['RS256', 'ES256', 'RS256'] as const).map((alg, index) =>
  createSigningKey(alg, `key-${index}`),
) as [SigningKey, SigningKey, SigningKey];

let provider: IdentityProvider;
let service: TestService;
beforeAll(async () => {
  provider = await startIdentityProvider();
  provider.publish(before.jwk);
  service = await startTestService({
    MEDIARY_ROLE: 'api',
    LOG_LEVEL: 'error',
    ACCESS_TOKEN_JWKS_URL: provider.jwksUrl,
    ACCESS_TOKEN_ISSUER: provider.issuer,
    ACCESS_TOKEN_AUDIENCE: AUDIENCE,
  });
});
afterAll(async () => {
  await service.stop();
  await provider.stop();
});

const asIssued = (key: SigningKey, userId: string, more: object = {}) => ({
  authorization: `Bearer ${signToken(key, provider.claims(userId, { aud: AUDIENCE, ...more }))}`,
});
const list = (headers: Record<string, string>) => call(service, 'GET /media', { headers });
const reasonOf = async (headers: Record<string, string>) =>
  expectRefusal(await list(headers), 401).details?.['reason'];

test('its users own what they create, and are kept from the assets of others', async () => {
  const headers = asIssued(before, 'auth0|ann');
  const created = await call(service, 'POST /media/upload-url?expand=asset', { headers, json: VIDEO });
  const { asset_id: id, asset } = expectSuccess(created);
  expect(asset).toMatchObject({ owner_user_id: 'auth0|ann' });
  expectSuccess(await call(service, `GET /media/${id}`, { headers }));
  expectSuccess(await call(service, `GET /media/${id}`, { headers: asUser('auth0|ann') }));
  expectRefusal(await call(service, `GET /media/${id}`, { headers: asIssued(before, 'auth0|bob') }), 403);
});

test('a rejected token says why', async () => {
  const stranger = { ...createSigningKey('RS256', before.kid) };
  expect(await reasonOf(asIssued(stranger, 'ann'))).toBe('bad_signature');
  expect(await reasonOf(asIssued(before, 'ann', { iss: 'https://evil.example/' }))).toBe('wrong_issuer');
  expect(await reasonOf(asIssued(before, 'ann', { aud: 'other' }))).toBe('wrong_audience');
  expect(await reasonOf(asIssued(before, 'ann', { exp: 1 }))).toBe('expired');
  expect(await reasonOf(asIssued(before, 'ann', { type: 'refresh' }))).toBe('wrong_type');
});

describe('when the identity provider', () => {
  test('replaces its key, tokens of the new one are accepted at once', async () => {
    provider.publish(before.jwk, after.jwk);
    expectSuccess(await list(asIssued(after, 'ann')));
    expectSuccess(await list(asIssued(before, 'ann')));
  });

  test('is down, tokens of known keys are accepted, and others are answered with 503', async () => {
    provider.answer((response) => response.destroy());
    expectSuccess(await list(asIssued(before, 'ann')));
    expectSuccess(await list(asIssued(after, 'ann')));
    const unknown = await eventually(
      () => list(asIssued(latest, 'ann')),
      ({ status }) => status === 503,
    );
    expect(expectRefusal(unknown, 503).details).toEqual({ reason: 'issuer_unavailable' });
    expect(Number(unknown.headers.get('retry-after'))).toBeGreaterThan(0);
    expectSuccess(await list(asUser('ann')));
  });

  test('is back, tokens of its latest key are accepted', async () => {
    provider.publish(latest.jwk);
    await eventually(
      () => list(asIssued(latest, 'ann')),
      ({ status }) => status === 200,
    );
    expect(await reasonOf(asIssued(before, 'ann'))).toBe('unknown_key');
  });
});
