// Authentication of guarded routes, and the order in which requests are rejected (contract A4, B2, B10).
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signAccessToken } from '../../../service/src/auth/tokens/access-token.ts';
import { toSecret } from '../../../service/src/auth/secret.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type IdentityProvider, startIdentityProvider } from '../../support/http/identity-provider.ts';
import { openUpload, VIDEO } from '../../support/media.ts';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import { asUser, call, SECRETS, startTestService, type TestService, tokenOf } from '../../support/service.ts';

const BEFORE = {
  token: 'yesterdays-access-token-secret-0123456789',
  key: 'yesterdays-service-key-0123456789abcdef',
};

let service: TestService;
/** Tokens of ACCESS_TOKEN_SECRET keep their rules beside it, even though it does not answer. */
let provider: IdentityProvider;
let id: string;
beforeAll(async () => {
  provider = await startIdentityProvider();
  provider.answer(() => undefined);
  service = await startTestService({
    ACCESS_TOKEN_JWKS_URL: provider.jwksUrl,
    ACCESS_TOKEN_ISSUER: provider.issuer,
    ACCESS_TOKEN_AUDIENCE: 'media',
    LOG_LEVEL: 'error',
    ACCESS_TOKEN_SECRET_PREVIOUS: BEFORE.token,
    SERVICE_API_KEY_PREVIOUS: BEFORE.key,
  });
  id = (await openUpload(service, 'ann')).asset_id;
});
afterAll(async () => {
  await service.stop();
  await provider.stop();
});

const now = () => Math.floor(Date.now() / 1000);
const tokenBy = (text: string, claims: object = {}) =>
  signAccessToken({ user_id: 'ann', type: 'access', ...claims }, toSecret(text));
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const unsigned = (header: object) => `${part(header)}.${part({ user_id: 'ann', type: 'access' })}.`;

/** One of each kind: read, list, write without and with a body, remove. */
const DOORS = [
  'GET /media/ID',
  'GET /media',
  'GET /media/ID/playback',
  'GET /media/ID/download-url',
  'POST /media/ID/complete',
  'POST /media/upload-url?expand=asset',
  'DELETE /media/ID',
];
const doorOf = (door: string) => door.replace('ID', id);

async function expectShut(headers: Record<string, string>): Promise<void> {
  for (const door of DOORS) {
    const answer = await call(service, doorOf(door), {
      headers,
      ...(door.includes('upload-url') && { json: VIDEO }),
    });
    expect.soft(answer.status, door).toBe(401);
    expect(expectRefusal(answer, 401).error_code).toBe('UNAUTHORIZED');
  }
}

describe('guarded routes reject', () => {
  const good = tokenOf('ann');
  test.each<[string, Record<string, string>]>([
    ['nobody', {}],
    ['an empty header', { authorization: '' }],
    ['a scheme without a token', { authorization: 'Bearer' }],
    ['another scheme', { authorization: `Basic ${Buffer.from('ann:password').toString('base64')}` }],
    ['a token without its scheme', { authorization: good }],
    ['a token and something behind it', { authorization: `Bearer ${good} x` }],
    ['a token of two parts', { authorization: `Bearer ${good.split('.').slice(0, 2).join('.')}` }],
    [
      'a token with one bit changed',
      { authorization: `Bearer ${good.slice(0, -2)}${good.at(-2) === 'A' ? 'B' : 'A'}${good.at(-1)}` },
    ],
    [
      'a token of another secret',
      { authorization: `Bearer ${tokenBy('somebody-elses-secret-0123456789abcdef')}` },
    ],
    ['a token signed with the service key', { authorization: `Bearer ${tokenBy(SECRETS.SERVICE_API_KEY)}` }],
    ['an unsigned token', { authorization: `Bearer ${unsigned({ alg: 'none' })}` }],
    ['a refresh token', { authorization: `Bearer ${tokenOf('ann', { type: 'refresh' })}` }],
    ['a token of no type', { authorization: `Bearer ${tokenOf('ann', { type: undefined })}` }],
    ['an expired token', { authorization: `Bearer ${tokenOf('ann', { exp: now() - 60 })}` }],
    ['a token that is not valid yet', { authorization: `Bearer ${tokenOf('ann', { nbf: now() + 60 })}` }],
    ['a token of nobody', { authorization: `Bearer ${tokenOf('ann', { user_id: undefined })}` }],
    ['a token of a blank user', { authorization: `Bearer ${tokenOf(' ')}` }],
    ['a token of a fraction', { authorization: `Bearer ${tokenOf(1.5)}` }],
    ['another algorithm', { authorization: `Bearer ${hs512()}` }],
    ['a wrong service key', { 'x-service-key': `${SECRETS.SERVICE_API_KEY}x` }],
    ['an empty service key', { 'x-service-key': '' }],
    ['the token secret as a service key', { 'x-service-key': SECRETS.ACCESS_TOKEN_SECRET }],
    ['the operator key as a service key', { 'x-service-key': SECRETS.OPERATOR_KEY }],
    [
      'both schemes, each of them good',
      { authorization: `Bearer ${good}`, 'x-service-key': SECRETS.SERVICE_API_KEY },
    ],
    ['a good token beside a bad key', { authorization: `Bearer ${good}`, 'x-service-key': 'x' }],
    [
      'a good key beside a bad token',
      { authorization: 'Bearer x', 'x-service-key': SECRETS.SERVICE_API_KEY },
    ],
  ])('%s', async (_who, headers) => {
    await expectShut(headers);
  });

  function hs512(): string {
    const signed = `${part({ alg: 'HS512' })}.${part({ user_id: 'ann', type: 'access' })}`;
    const mac = createHmac('sha512', SECRETS.ACCESS_TOKEN_SECRET).update(signed);
    return `${signed}.${mac.digest('base64url')}`;
  }

  test('repeated headers, even if both are valid', async () => {
    const token = `Authorization: ${asUser('ann').authorization}`;
    const key = `X-Service-Key: ${SECRETS.SERVICE_API_KEY}`;
    for (const headers of [
      [token, token],
      [token, 'Authorization: Bearer x'],
      [key, key],
      ['X-Service-Key: x', key],
      [token, key],
      [token, 'x-service-KEY:'],
    ]) {
      expectRefusal(await sendRaw(service.address, request('GET /api/v1/media', headers)), 401);
      expectRefusal(await sendRaw(service.address, request(`GET /api/v1/media/${id}`, headers)), 401);
    }
  });
});

describe('guarded routes accept', () => {
  const reads = async (headers: Record<string, string>) =>
    expectSuccess(await call(service, `GET /media/${id}`, { headers }));

  test.each<[string, () => Record<string, string>]>([
    ['a user', () => asUser('ann')],
    ['a user whose client writes bearer small', () => ({ authorization: `bearer ${tokenOf('ann')}` })],
    [
      'a user whose token was signed with the secret before',
      () => ({ authorization: `Bearer ${tokenBy(BEFORE.token)}` }),
    ],
    [
      'a user whose token has just run out',
      () => ({ authorization: `Bearer ${tokenOf('ann', { exp: now() - 2 })}` }),
    ],
    [
      'a user whose token says more than we ask',
      () => ({
        authorization: `Bearer ${tokenOf('ann', { iss: 'x', aud: 'y', iat: now() + 999, exp: now() + 60 })}`,
      }),
    ],
    ['a service', () => ({ 'x-service-key': SECRETS.SERVICE_API_KEY })],
    ['a service with the key before', () => ({ 'x-service-key': BEFORE.key })],
  ])('%s', async (_who, headers) => {
    await reads(headers());
  });

  test('a user id that is a number, and the same id as text', async () => {
    const headers = { authorization: `Bearer ${tokenOf(4711)}` };
    const { asset_id: made, asset } = expectSuccess(
      await call(service, 'POST /media/upload-url?expand=asset', { headers, json: VIDEO }),
    );
    expect(asset).toMatchObject({ owner_user_id: '4711' });
    expectSuccess(await call(service, `GET /media/${made}`, { headers: asUser('4711') }));
  });

  test('a user id in another script', async () => {
    const started = await openUpload(service, 'Zoë 🎬');
    expect(started.asset['owner_user_id']).toBe('Zoë 🎬');
  });
});

describe('the order of checks', () => {
  const stranger = { authorization: 'Bearer nonsense', 'content-type': 'application/json' };

  test.each([
    ['a body that is no JSON', 'POST /media/upload-url?expand=asset', '{'],
    ['a body that lacks everything', 'POST /media/upload-url?expand=asset', '{}'],
    ['a query that is out of range', 'GET /media?limit=0', undefined],
    ['an asset that does not exist', 'GET /media/00000000-0000-7000-8000-000000000000', undefined],
    ['an id that is none', 'GET /media/nothing', undefined],
  ])('credentials come before %s', async (_what, line, body) => {
    expectRefusal(await call(service, line, { headers: stranger, ...(body !== undefined && { body }) }), 401);
  });

  test('the route comes before credentials', async () => {
    expectRefusal(await call(service, 'PUT /media', { headers: stranger }), 404);
    expectRefusal(await call(service, 'GET /media/', { headers: stranger }), 404);
  });

  test('with both schemes nothing is looked up', async () => {
    const { one, all } = service.adapters.db;
    const refuse = () => {
      throw new Error('the database was asked');
    };
    Object.assign(service.adapters.db, { one: refuse, all: refuse });
    try {
      await expectShut({ ...asUser('ann'), 'x-service-key': SECRETS.SERVICE_API_KEY });
    } finally {
      Object.assign(service.adapters.db, { one, all });
    }
  });
});
