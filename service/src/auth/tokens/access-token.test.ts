// Accepted access tokens, and any edit of one (contract A4).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomEdits } from '../../../../test/support/assets/random-edits.ts';
import { current, NOW, previous, verify, verifyClaims } from './access-token.fixture.ts';
import { signAccessToken, verifyAccessToken } from './access-token.ts';
import { toSecret } from '../secret.ts';

describe('an access token', () => {
  test('identifies the user', () => {
    expect(verifyClaims({})).toEqual({ userId: 'ada' });
  });

  test('is valid with the current and the previous secret only', () => {
    const claims = { user_id: 'ada', type: 'access' };
    expect(verify(signAccessToken(claims, previous))).toEqual({ userId: 'ada' });
    expect(verify(signAccessToken(claims, toSecret('other-secret')))).toBeUndefined();
    expect(verifyAccessToken(signAccessToken(claims, current), [], NOW)).toEqual({
      fault: { reason: 'bad_signature' },
    });
  });

  test('of another library is accepted', () => {
    // HS256 of {"alg":"HS256","typ":"JWT"} and {"user_id":"ada","type":"access"} under "secret", computed
    // with Python's hmac.
    const token =
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1c2VyX2lkIjoiYWRhIiwidHlwZSI6ImFjY2VzcyJ9.' +
      'wDr-fG4juka6NfV4N-wewlCneWDfVE35ADmDM2pNYoU';
    expect(verifyAccessToken(token, [toSecret('secret')], NOW)).toEqual({ userId: 'ada' });
  });

  test('may contain further claims', () => {
    expect(
      verifyClaims({
        iat: 'yesterday',
        iss: 7,
        aud: ['x'],
        sub: 'eve',
        roles: ['admin'],
        jti: null,
        owner_user_id: 'eve',
      }),
    ).toEqual({ userId: 'ada' });
  });

  test('may have 7 kB, but not 16 kB (A8)', () => {
    expect(verifyClaims({ roles: 'r'.repeat(5_300) })).toEqual({ userId: 'ada' });
    expect(verifyClaims({ roles: 'r'.repeat(11_950) })).toBeUndefined();
  });
});

describe('an edited token (A4)', () => {
  const token = signAccessToken({ user_id: 'ada', type: 'access', exp: NOW + 60 }, current);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ';

  test('is rejected for every other character at every place', () => {
    const accepted = [...token].flatMap((char, at) =>
      [...alphabet].filter(
        (other) => other !== char && verify(token.slice(0, at) + other + token.slice(at + 1)),
      ),
    );
    expect(accepted).toEqual([]);
    expect(verify(token)).toMatchObject({ userId: 'ada' });
  });

  test('is rejected for 20 000 random replacements, insertions and deletions', () => {
    const accepted = (seed: number) =>
      [...randomEdits(token, { count: 1_000, seed })].filter((edited) => verify(edited));
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(accepted(seed)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  test('random texts are rejected', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => verify(text) === undefined),
      { numRuns: 1_000 },
    );
  });
});
