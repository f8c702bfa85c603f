// Access tokens with a wrong type, user id or time are rejected (contract A4, B10).
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { current, encode, NOW, signText, verify, verifyClaims } from './access-token.fixture.ts';
import { signAccessToken } from './access-token.ts';

describe('another kind of token is rejected (A5)', () => {
  test.each([
    'refresh',
    'Access',
    'ACCESS',
    'access ',
    '',
    null,
    ['access'],
    { access: true },
    1,
    true,
    undefined,
  ])('type %j', (type) => {
    expect(verifyClaims({ type })).toBeUndefined();
  });

  test.each([
    'null',
    '1',
    '"access"',
    '[]',
    '[{"user_id":"ada","type":"access"}]',
    '',
    '{',
    '\ufeff{"user_id":"ada","type":"access"}',
    '{"user_id":"ada","type":"access"}{}',
  ])('the claims %j', (claims) => {
    expect(verify(signText(claims))).toBeUndefined();
  });

  test('claims that are not UTF-8', () => {
    const claims = Buffer.from('{"user_id":"\xff","type":"access"}', 'latin1').toString('base64url');
    const text = `${encode('{"alg":"HS256"}')}.${claims}`;
    expect(
      verify(`${text}.${createHmac('sha256', current.reveal()).update(text).digest('base64url')}`),
    ).toBeUndefined();
  });
});

describe('the user id (A6)', () => {
  test.each([
    ['ada', 'ada'],
    ['Zoë 🦊', 'Zoë 🦊'],
    [42, '42'],
    [-1, '-1'],
    [9007199254740991, '9007199254740991'],
  ])('%j is accepted', (user_id, userId) => {
    expect(verifyClaims({ user_id })).toEqual({ userId });
  });

  test.each([
    '',
    ' ',
    null,
    undefined,
    [],
    ['ada'],
    {},
    { id: 'ada' },
    true,
    1.5,
    1e20,
    'a\0',
    'a\nb',
    '\x85',
  ])('%j is rejected', (user_id) => {
    expect(verifyClaims({ user_id })).toBeUndefined();
  });

  test('has at most 255 code points', () => {
    const longest = '𝒳'.repeat(255);
    expect(verifyClaims({ user_id: longest })).toEqual({ userId: longest });
    expect([`${longest}x`, 'x'.repeat(8_000)].map((user_id) => verifyClaims({ user_id }))).toEqual([
      undefined,
      undefined,
    ]);
  });

  test.each(['9007199254740993', '1e400', '-1e400', '0.1', '12345678901234567890123'])(
    'the number %s is rejected, because JSON.parse would change it',
    (number) => {
      expect(verify(signText(`{"user_id":${number},"type":"access"}`))).toBeUndefined();
    },
  );

  test('a lone surrogate is rejected', () => {
    expect(verify(signText('{"user_id":"a\\ud800","type":"access"}'))).toBeUndefined();
  });

  test.each([
    '{"user_id":"ada","user_id":"eve","type":"access"}',
    '{"user_id":"ada","type":"refresh","type":"access"}',
    '{"user_id":"ada","type":"access","user\\u005fid":"eve"}',
    '{"user_id":"ada","type":"access","exp":1,"exp":9999999999}',
  ])('duplicate claims are rejected: %s', (claims) => {
    expect(verify(signText(claims))).toBeUndefined();
  });

  test.each(['user_id', 'type'])('%s is never read from a prototype', (name) => {
    const claims: Record<string, unknown> = { user_id: 'ada', type: 'access' };
    const inherited = claims[name];
    delete claims[name];
    Object.defineProperty(Object.prototype, name, { value: inherited, configurable: true });
    try {
      expect(verify(signText(JSON.stringify(claims)))).toBeUndefined();
      expect(
        verify(
          signText(
            JSON.stringify({ ...claims, __proto__: null }).replace(
              '{',
              `{"__proto__":{"${name}":"${inherited}"},`,
            ),
          ),
        ),
      ).toBeUndefined();
    } finally {
      Reflect.deleteProperty(Object.prototype, name);
    }
  });
});

describe('time (A7, B10)', () => {
  test('an expired token is rejected, with five seconds of leeway', () => {
    const at = (exp: number) => verifyClaims({ exp }) !== undefined;
    expect([NOW + 60, NOW, NOW - 4, NOW - 4.5, NOW - 5, NOW - 6, 0].map(at)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test('a token from the future is rejected, with five seconds of leeway', () => {
    const at = (nbf: number) => verifyClaims({ nbf }) !== undefined;
    expect([0, NOW, NOW + 5, NOW + 5.5, NOW + 6, NOW + 3_600].map(at)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test('exp and nbf are both checked', () => {
    expect(verifyClaims({ exp: NOW + 60, nbf: NOW - 60 })).toEqual({ userId: 'ada', tokenEnd: NOW + 65 });
    expect(verifyClaims({ exp: NOW + 60, nbf: NOW + 30 })).toBeUndefined();
    expect(verifyClaims({ exp: NOW - 30, nbf: NOW - 60 })).toBeUndefined();
  });

  test('a token without exp does not expire', () => {
    expect(verify(signAccessToken({ user_id: 'ada', type: 'access' }, current), NOW * 2)).toEqual({
      userId: 'ada',
    });
  });

  const invalid = [String(NOW + 60), '', null, true, [NOW + 60], {}, -1, (NOW + 60) * 1_000, 1e20];
  test.each(invalid)('exp %j is rejected', (exp) => {
    expect(verifyClaims({ exp })).toBeUndefined();
  });

  test.each([...invalid, String(NOW - 60), (NOW - 60) * 1_000])('nbf %j is rejected', (nbf) => {
    expect(verifyClaims({ nbf })).toBeUndefined();
  });

  test('an infinite number is rejected', () => {
    expect(verify(signText('{"user_id":"ada","type":"access","exp":1e400}'))).toBeUndefined();
    expect(verify(signText('{"user_id":"ada","type":"access","nbf":-1e400}'))).toBeUndefined();
  });
});
