// Tests who sends a request, by its credentials (contract A4).
import { describe, expect, test } from 'vitest';
import { signAccessToken } from './tokens/access-token.ts';
import { identify } from './caller.ts';
import { toSecret } from './secret.ts';

const tokenSecret = toSecret('token-secret-0123456789-0123456789');
const serviceKey = toSecret('service-key-0123456789-0123456789');
const urlSecret = toSecret('url-secret-0123456789-0123456789');
const verifiers = {
  tokenSecrets: [tokenSecret],
  serviceKeys: [serviceKey],
  urlSecrets: [urlSecret],
  nowSeconds: 1_700_000_000,
};

const token = signAccessToken({ user_id: 'ada', type: 'access' }, tokenSecret);
const bearer = `Bearer ${token}`;
const key = serviceKey.reveal();

const asked = (authorization: readonly string[], keys: readonly string[] = []) =>
  identify({ authorization, serviceKey: keys }, verifiers);
const rejected = (reason: string, challenge: unknown = expect.any(String)) => ({
  fault: expect.objectContaining({ reason, challenge, message: expect.stringMatching(/\S/) }),
});

describe('who is asking', () => {
  test('a user, by a token', () => {
    expect(asked([bearer])).toEqual({ caller: { kind: 'user', userId: 'ada' } });
  });

  test('a service, by its key, which is no user', () => {
    expect(asked([], [key])).toEqual({ caller: { kind: 'service' } });
  });

  test.each(['bearer', 'BEARER', 'bEaReR'])('the scheme may be spelled %s', (scheme) => {
    expect(asked([`${scheme} ${token}`])).toEqual({ caller: { kind: 'user', userId: 'ada' } });
  });

  test('nobody, without credentials', () => {
    expect(asked([])).toEqual(rejected('missing', 'Bearer'));
  });

  test.each([
    ['both schemes', [bearer], [key]],
    ['both, the key wrong', [bearer], ['wrong']],
    ['both, the token wrong', ['Bearer wrong'], [key]],
    ['both, one of them empty', [''], [key]],
    ['both, another scheme', ['Basic YTpi'], [key]],
    ['the token twice', [bearer, bearer], []],
    ['a wrong token after a right one', [bearer, 'Bearer wrong'], []],
    ['the key twice', [], [key, key]],
    ['a right key after a wrong one', [], ['wrong', key]],
  ])('%s: refused, whatever is right among them', (_, authorization, keys) => {
    expect(asked(authorization, keys)).toEqual(
      rejected('multiple_credentials', 'Bearer error="invalid_request"'),
    );
  });

  test.each([
    '',
    'Bearer',
    'Bearer ',
    token,
    `Bearer\t${token}`,
    ` ${bearer}`,
    `Bearer${token}`,
    `Bearer: ${token}`,
    `Basic ${token}`,
    `Token ${token}`,
    `JWT ${token}`,
    `Ｂearer ${token}`,
  ])('%j is not of the Bearer scheme, so that the challenge names no error', (authorization) => {
    expect(asked([authorization])).toEqual(rejected('malformed', 'Bearer'));
  });

  test.each([
    'Bearer wrong',
    `Bearer  ${token}`,
    `${bearer} `,
    `${bearer}\n`,
    `Bearer ${token} ${token}`,
    `${bearer}, ${bearer}`,
    `Bearer "${token}"`,
    `Bearer ${key}`,
  ])('%j is no access token', (authorization) => {
    expect(asked([authorization])).toEqual(
      rejected(
        'malformed',
        expect.stringMatching(/^Bearer error="invalid_token"(?:, error_description="malformed")?$/),
      ),
    );
  });

  test('an expired token is told from a forged one', () => {
    const expired = signAccessToken({ user_id: 'ada', type: 'access', exp: 1 }, tokenSecret);
    const forged = signAccessToken({ user_id: 'ada', type: 'access', exp: 1 }, serviceKey);
    expect(asked([`Bearer ${expired}`])).toEqual(
      rejected('expired', 'Bearer error="invalid_token", error_description="expired"'),
    );
    expect(asked([`Bearer ${forged}`])).toEqual(
      rejected('bad_signature', 'Bearer error="invalid_token", error_description="bad_signature"'),
    );
  });

  test.each(['', 'wrong', `${key} `, `Bearer ${key}`, `${key}, ${key}`, bearer, token])(
    '%j is no service key',
    (given) => {
      expect(asked([], [given])).toEqual(rejected(given === '' ? 'missing' : 'invalid_credential', 'Bearer'));
    },
  );

  test('a token is not accepted as a key, nor a key as a token, where nothing is configured', () => {
    const nothing = { ...verifiers, tokenSecrets: [], serviceKeys: [] };
    expect(identify({ authorization: [bearer], serviceKey: [] }, nothing)).toEqual(rejected('bad_signature'));
    expect(identify({ authorization: [], serviceKey: [key] }, nothing)).toEqual(
      rejected('invalid_credential'),
    );
  });
});

describe('a rejected caller is told what to send', () => {
  const faultOf = (authorization: readonly string[], keys: readonly string[] = []) => {
    const result = asked(authorization, keys);
    return 'fault' in result ? { message: result.fault.message, field: result.fault.field } : undefined;
  };
  const SEND_ONE = 'Send either "Authorization: Bearer <access token>" or "X-Service-Key: <key>"';

  test('without credentials, with several, or with an empty key', () => {
    expect(faultOf([])).toEqual({ message: `No credentials. ${SEND_ONE}.`, field: undefined });
    expect(faultOf([bearer], [key])).toEqual({
      message: `More than one credential was sent. ${SEND_ONE}, once.`,
      field: undefined,
    });
    expect(faultOf([], [''])).toEqual({ message: `No service key. ${SEND_ONE}.`, field: 'X-Service-Key' });
  });

  test('with a wrong key or a malformed header', () => {
    expect(faultOf([], ['wrong'])).toEqual({
      message: 'The service key is not valid',
      field: 'X-Service-Key',
    });
    expect(faultOf(['Basic YTpi'])).toEqual({
      message: 'The Authorization header is malformed. Expected: "Authorization: Bearer <access token>".',
      field: 'Authorization',
    });
  });

  test.each([
    [{ type: 'refresh' }, 'type', 'The token is not an access token. Its claim "type" must be "access".'],
    [
      { user_id: undefined },
      'user_id',
      'The access token lacks a claim. It needs "type" = "access" and a "user_id".',
    ],
    [{ exp: 1 }, 'exp', 'The access token has expired. Request a new one.'],
    [
      { nbf: verifiers.nowSeconds + 60 },
      'nbf',
      'The access token is not valid yet. Check its "nbf" and the clocks.',
    ],
  ])('with the claims %j', (claims, field, message) => {
    const rejectedToken = signAccessToken({ user_id: 'ada', type: 'access', ...claims }, tokenSecret);
    expect(faultOf([`Bearer ${rejectedToken}`])).toEqual({ message, field });
  });

  test('with a token that cannot be verified', () => {
    expect(faultOf(['Bearer wrong'])?.message).toBe(
      'The access token is malformed. Expected: a JWT signed with HS256.',
    );
    expect(faultOf([`Bearer ${token.slice(0, -3)}`])?.message).toBe(
      'The signature of the access token is not valid. Expected: HS256 with ACCESS_TOKEN_SECRET.',
    );
  });
});
