// Access tokens of an identity provider, beside those of ACCESS_TOKEN_SECRET (contract A4, B10).
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createSigningKey,
  encodePart,
  type IdentityProvider,
  signatureOf,
  signToken,
  startIdentityProvider,
} from '../../../../test/support/http/identity-provider.ts';
import { current } from './access-token.fixture.ts';
import { signAccessToken } from './access-token.ts';
import { identify, identifyByIssuer } from '../caller.ts';
import type { TrustedIssuer } from './issuer-token.ts';
import { openJwksIssuerKeys } from './jwks-issuer-keys.ts';
import { toSecret } from '../secret.ts';

const rsa = createSigningKey('RS256', 'rsa');
const ec = createSigningKey('ES256', 'ec');
const stranger = createSigningKey('RS256', 'rsa');
const strangeEc = createSigningKey('ES256', 'ec');
const encryption = createSigningKey('RS256', 'encryption', { use: 'enc' });
const otherAlg = createSigningKey('RS256', 'other-alg', { alg: 'RS512' });
const notForVerifying = createSigningKey('RS256', 'key-ops', { key_ops: ['encrypt'] });
const leaked = createSigningKey('RS256', 'leaked');
const twin = createSigningKey('RS256', 'twin');
const otherTwin = createSigningKey('RS256', 'twin');
const shortPair = generateKeyPairSync('rsa', { modulusLength: 1024 });
const short = { ...rsa, kid: 'short', ...shortPair };

const AUDIENCE = 'https://media.example.com';
let provider: IdentityProvider;
let issuer: TrustedIssuer;
beforeAll(async () => {
  provider = await startIdentityProvider();
  provider.publish(
    rsa.jwk,
    ec.jwk,
    encryption.jwk,
    otherAlg.jwk,
    notForVerifying.jwk,
    { ...leaked.privateKey.export({ format: 'jwk' }), kid: 'leaked' },
    { ...short.publicKey.export({ format: 'jwk' }), kid: 'short' },
    twin.jwk,
    otherTwin.jwk,
    { kty: 'oct', kid: 'oct', k: encodePart('shared'), alg: 'HS256' },
    { kty: 'RSA', kid: 'broken', n: 7 },
    null,
  );
  issuer = {
    jwksUrl: provider.jwksUrl,
    issuer: provider.issuer,
    audience: AUDIENCE,
    userClaim: 'sub',
    keys: openJwksIssuerKeys({ url: provider.jwksUrl, onError: (error) => expect.fail(String(error)) }),
  };
});
afterAll(() => provider.stop());

const mixed = () => {
  const [header, , signature] = signToken(rsa, claims()).split('.');
  return `${header}.${encodePart(claims({ sub: 'eve' }))}.${signature}`;
};
const claims = (more: object = {}) => provider.claims('ada', { aud: AUDIENCE, ...more });

const SECRETS = { serviceKeys: [], urlSecrets: [] };
/** The user id, or the reason and the field of the rejection. */
async function seen(token: string, trusted: TrustedIssuer = issuer): Promise<unknown> {
  const credentials = { authorization: [`Bearer ${token}`], serviceKey: [] };
  const nowSeconds = Date.now() / 1000;
  const first = identify(credentials, { ...SECRETS, tokenSecrets: [current], nowSeconds });
  const result =
    'caller' in first
      ? first
      : ((await identifyByIssuer(credentials, first.fault, { issuer: trusted, nowSeconds })) ?? first);
  if ('caller' in result) return result.caller.kind === 'user' ? result.caller.userId : 'service';
  const { reason, field, message, challenge } = result.fault;
  expect(message).toMatch(/^[A-Z].*\.$/);
  expect(challenge).toBe(`Bearer error="invalid_token", error_description="${reason}"`);
  return field === undefined ? reason : `${reason} ${field}`;
}

describe('a token of the identity provider is accepted', () => {
  test.each([rsa, ec])('signed with $alg', async (key) => {
    expect(await seen(signToken(key, claims()))).toBe('ada');
  });

  test('of another library', async () => {
    const token = await new SignJWT({ ...claims() })
      .setProtectedHeader({ alg: 'ES256', kid: 'ec' })
      .sign(ec.privateKey);
    expect(await seen(token)).toBe('ada');
  });

  test('without a kid, where one key fits its algorithm', async () => {
    expect(await seen(signToken(ec, claims(), { kid: undefined }))).toBe('ada');
    expect(await seen(signToken(rsa, claims(), { kid: undefined }))).toBe('unknown_key');
  });

  test.each([
    ['several audiences', { aud: ['other', AUDIENCE] }],
    ['the type access', { type: 'access' }],
    ['an end that has just passed', { exp: Date.now() / 1000 - 3 }],
    ['a beginning that is just ahead', { nbf: Date.now() / 1000 + 3 }],
    ['a claim user_id, which has no meaning here', { user_id: 'eve' }],
  ])('with %s', async (_what, more) => {
    expect(await seen(signToken(rsa, claims(more)))).toBe('ada');
  });

  test('by another claim, where the settings name it', async () => {
    const needs = { ...issuer, userClaim: 'https://example.com/user' };
    expect(await seen(signToken(ec, claims({ 'https://example.com/user': 4711 })), needs)).toBe('4711');
    expect(await seen(signToken(ec, claims()), needs)).toBe('missing_claim https://example.com/user');
  });

  test('for any audience, where the settings name none', async () => {
    const needs = { ...issuer, audience: undefined };
    expect(await seen(signToken(rsa, claims({ aud: 'other' })), needs)).toBe('ada');
    expect(await seen(signToken(rsa, claims({ aud: undefined })), needs)).toBe('ada');
  });
});

describe('a token of the identity provider is rejected', () => {
  test.each([
    [{ iss: undefined }, 'missing_claim iss'],
    [{ iss: 'https://evil.example/' }, 'wrong_issuer iss'],
    [{ iss: ['x'] }, 'wrong_issuer iss'],
    [{ aud: undefined }, 'missing_claim aud'],
    [{ aud: 'other' }, 'wrong_audience aud'],
    [{ aud: [] }, 'wrong_audience aud'],
    [{ aud: `${AUDIENCE}/` }, 'wrong_audience aud'],
    [{ aud: { [AUDIENCE]: true } }, 'wrong_audience aud'],
    [{ exp: undefined }, 'missing_claim exp'],
    [{ exp: 1 }, 'expired exp'],
    [{ exp: 'tomorrow' }, 'malformed exp'],
    [{ nbf: Date.now() / 1000 + 60 }, 'not_yet_valid nbf'],
    [{ type: 'refresh' }, 'wrong_type type'],
    [{ type: 'id' }, 'wrong_type type'],
    [{ sub: undefined }, 'missing_claim sub'],
    [{ sub: ' ' }, 'missing_claim sub'],
    [{ sub: 1.5 }, 'missing_claim sub'],
    [{ sub: 'x'.repeat(256) }, 'missing_claim sub'],
  ])('with the claims %j', async (more, reason) => {
    expect(await seen(signToken(rsa, claims(more)))).toBe(reason);
    expect(await seen(signToken(ec, claims(more)))).toBe(reason);
  });

  test('when its claims are no JSON object, or name one twice', async () => {
    for (const text of ['null', '[]', '{', `{"sub":"ada","sub":"eve"}`])
      expect(await seen(signToken(rsa, text))).toBe('malformed');
  });

  test.each([
    ['another RSA key', () => signToken(stranger, claims()), 'bad_signature'],
    ['another EC key', () => signToken(strangeEc, claims()), 'bad_signature'],
    ['RS256 with the kid of the EC key', () => signToken(rsa, claims(), { kid: 'ec' }), 'unknown_key'],
    ['ES256 with the kid of the RSA key', () => signToken(ec, claims(), { kid: 'rsa' }), 'unknown_key'],
    ['an unknown kid', () => signToken(rsa, claims(), { kid: 'new' }), 'unknown_key'],
    ['a kid that is no text', () => signToken(rsa, claims(), { kid: 7 }), 'unknown_key'],
    ['a kid that two keys have', () => signToken(twin, claims()), 'unknown_key'],
    ['a key for encryption', () => signToken(encryption, claims()), 'unknown_key'],
    ['a key for other operations', () => signToken(notForVerifying, claims()), 'unknown_key'],
    ['a key for another algorithm', () => signToken(otherAlg, claims()), 'unknown_key'],
    ['a key whose private half is published', () => signToken(leaked, claims()), 'unknown_key'],
    ['a key of 1024 bits', () => signToken(short, claims()), 'unknown_key'],
    ['a broken key', () => signToken(rsa, claims(), { kid: 'broken' }), 'unknown_key'],
    ['the signature of another token', () => mixed(), 'bad_signature'],
    ['an empty signature', () => signToken(rsa, claims()).replace(/[^.]*$/, ''), 'bad_signature'],
    ['no signature at all', () => signToken(rsa, claims()).replace(/\.[^.]*$/, ''), 'malformed'],
    ['four parts', () => `${signToken(rsa, claims())}.x`, 'malformed'],
    ['padding', () => `${signToken(rsa, claims())}==`, 'malformed'],
    ['critical extensions', () => signToken(rsa, claims(), { crit: ['exp'], exp: 1 }), 'malformed'],
    ['an unencoded payload', () => signToken(rsa, claims(), { crit: ['b64'], b64: false }), 'malformed'],
    ['compression', () => signToken(rsa, claims(), { zip: 'DEF' }), 'malformed'],
    ['16 kB', () => signToken(rsa, claims({ roles: 'r'.repeat(12_000) })), 'malformed'],
  ])('for %s', async (_what, make, reason) => {
    expect(await seen(make())).toBe(reason);
  });

  test.each(['none', 'None', '', 'HS256', 'HS384', 'RS384', 'RS512', 'PS256', 'ES384', 'EdDSA', 'rs256', 7])(
    'signed with RS256 or ES256 under the name %j',
    async (alg) => {
      expect(await seen(signToken(rsa, claims(), { alg }))).toBe('bad_signature');
      expect(await seen(signToken(ec, claims(), { alg }))).toBe('bad_signature');
    },
  );

  test.each([rsa, ec])('after a change of any bit of its signature ($alg)', async (key) => {
    const signed = `${encodePart({ alg: key.alg, kid: key.kid })}.${encodePart(claims())}`;
    const signature = signatureOf(key, signed);
    for (let at = 0; at < signature.length; at += 7) {
      const altered = Buffer.from(signature);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(await seen(`${signed}.${altered.toString('base64url')}`)).toBe('bad_signature');
    }
    expect(await seen(`${signed}.${Buffer.alloc(signature.length).toString('base64url')}`)).toBe(
      'bad_signature',
    );
    expect(await seen(`${signed}.${signature.toString('base64url')}`)).toBe('ada');
  });

  test('that brings its own key', async () => {
    const { jwk } = stranger;
    for (const header of [{ jwk }, { jku: provider.jwksUrl }, { x5u: provider.jwksUrl }, { x5c: ['AA=='] }]) {
      expect(await seen(signToken(stranger, claims(), header))).toBe('bad_signature');
      expect(await seen(signToken(stranger, claims(), { ...header, kid: 'own' }))).toBe('unknown_key');
    }
  });
});

describe('algorithms are not confused', () => {
  const hs256 = (secret: string, header: object = {}) => {
    const payload = { ...claims(), user_id: 'eve', type: 'access' };
    const signed = `${encodePart({ alg: 'HS256', ...header })}.${encodePart(payload)}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  };

  test.each([
    ['PEM', () => rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    ['PKCS #1', () => rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
    ['JWK', () => JSON.stringify(rsa.jwk)],
    ['modulus', () => String(rsa.jwk['n'])],
    ['EC PEM', () => ec.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
    ['shared key of the set', () => 'shared'],
    ['empty text', () => ''],
  ])('the %s of a public key is no secret of an HS256 token', async (_what, secret) => {
    for (const kid of ['rsa', 'ec', 'oct', undefined])
      expect(await seen(hs256(secret(), { kid }))).toBe('bad_signature');
    expect(await seen(hs256(secret(), { alg: 'RS256', kid: 'rsa' }))).toBe('bad_signature');
  });

  test('a MAC with ACCESS_TOKEN_SECRET does not make an RS256 token valid', async () => {
    expect(await seen(hs256(current.reveal(), { alg: 'RS256', kid: 'rsa' }))).toBe('malformed');
  });

  test('an HS256 token keeps its own rules, and never waits for the identity provider', async () => {
    const keys = { verify: () => expect.fail('the identity provider was asked') };
    const needs = { ...issuer, keys };
    const sign = (more: object, secret = current) =>
      signAccessToken({ user_id: 'bob', type: 'access', ...more }, secret);
    expect(await seen(sign({}), needs)).toBe('bob');
    expect(await seen(sign({ iss: 'x', aud: 'y', sub: 'eve' }), needs)).toBe('bob');
    expect(await seen(sign({ type: undefined }), needs)).toBe('missing_claim type');
    expect(await seen(sign({ ...claims(), user_id: undefined }), needs)).toBe('missing_claim user_id');
    expect(await seen(sign({}, toSecret('of-somebody-else')), needs)).toBe('bad_signature');
    expect(await seen('x.y.z', needs)).toBe('bad_signature');
  });
});
