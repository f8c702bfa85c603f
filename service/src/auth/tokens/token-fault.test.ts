// Tests the reasons of rejected access tokens (contract B10).
import { describe, expect, test } from 'vitest';
import { current, NOW, signText } from './access-token.fixture.ts';
import { signAccessToken, verifyAccessToken } from './access-token.ts';
import { toSecret } from '../secret.ts';

const faultOf = (token: string) => {
  const verified = verifyAccessToken(token, [current], NOW);
  return 'fault' in verified ? verified.fault : undefined;
};

describe('a rejected token says why (B10)', () => {
  const faultOfClaims = (claims: Record<string, unknown>) =>
    faultOf(signAccessToken({ user_id: 'ada', type: 'access', ...claims }, current));

  test.each([
    [{ type: 'refresh' }, { reason: 'wrong_type', field: 'type' }],
    [{ type: undefined }, { reason: 'missing_claim', field: 'type' }],
    [{ user_id: undefined }, { reason: 'missing_claim', field: 'user_id' }],
    [{ user_id: ' ' }, { reason: 'missing_claim', field: 'user_id' }],
    [{ exp: NOW - 60 }, { reason: 'expired', field: 'exp' }],
    [{ exp: 'soon' }, { reason: 'malformed', field: 'exp' }],
    [{ nbf: NOW + 60 }, { reason: 'not_yet_valid', field: 'nbf' }],
    [{ nbf: 'soon' }, { reason: 'malformed', field: 'nbf' }],
    [
      { type: 'refresh', exp: 0 },
      { reason: 'wrong_type', field: 'type' },
    ],
  ])('%j → %j', (claims, fault) => {
    expect(faultOfClaims(claims)).toEqual(fault);
  });

  test.each(['', 'x', 'a.b', 'a.b.c.d.e', 'a.b.ä', `${'x'.repeat(9000)}.${'x'.repeat(9000)}.x`])(
    'a text that is no token is malformed: %j',
    (text) => {
      expect(faultOf(text)).toEqual({ reason: 'malformed' });
    },
  );

  test('a signed token is malformed if its claims are no JSON object or its algorithm differs', () => {
    expect(faultOf(signText('null'))).toEqual({ reason: 'malformed' });
    expect(faultOf(signText('{'))).toEqual({ reason: 'malformed' });
    expect(faultOf(signText('{}', '{"alg":"none"}'))).toEqual({ reason: 'malformed' });
  });

  test.each([{}, { type: 'refresh' }, { user_id: undefined }, { exp: 0 }, { nbf: NOW * 2 }, { exp: 'soon' }])(
    'nothing is said about the claims of a token that somebody else signed: %j',
    (claims) => {
      const token = signAccessToken(
        { user_id: 'ada', type: 'access', ...claims },
        toSecret('of-somebody-else'),
      );
      expect(faultOf(token)).toEqual({ reason: 'bad_signature' });
      expect(faultOf(`${token.slice(0, token.lastIndexOf('.'))}.`)).toEqual({ reason: 'bad_signature' });
    },
  );
});
