import { createHmac, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomEdits } from '../../../test/support/random-edits.ts';
import { signAccessToken, verifyAccessToken } from './access-token.ts';
import { toSecret } from './secret.ts';

const NOW = 1_700_000_000;
const current = toSecret('current-secret-0123456789-0123456789');
const previous = toSecret('previous-secret-0123456789-0123456789');

const verify = (token: string, now = NOW) => {
  const verified = verifyAccessToken(token, [current, previous], now);
  return 'userId' in verified ? verified : undefined;
};
const claimed = (claims: Record<string, unknown>) =>
  verify(signAccessToken({ user_id: 'ada', type: 'access', ...claims }, current));

const encode = (text: string) => Buffer.from(text).toString('base64url');

/** Well signed with our secret, from the very text of the claims. */
function written(claims: string): string {
  const text = `${encode('{"alg":"HS256","typ":"JWT"}')}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', current.reveal()).update(text).digest('base64url')}`;
}

describe('an access token', () => {
  test('says whose request it is', () => {
    expect(claimed({})).toEqual({ userId: 'ada' });
  });

  test('is good under the current secret and the previous one, and under no other', () => {
    const good = { user_id: 'ada', type: 'access' };
    expect(verify(signAccessToken(good, previous))).toEqual({ userId: 'ada' });
    expect(verify(signAccessToken(good, toSecret('other-secret')))).toBeUndefined();
    expect(verifyAccessToken(signAccessToken(good, current), [], NOW)).toEqual({
      fault: { reason: 'bad_signature' },
    });
  });

  test('reads like one that another library wrote', () => {
    // HS256 of {"alg":"HS256","typ":"JWT"} and {"user_id":"ada","type":"access"} under "secret", computed
    // with Python's hmac.
    const token =
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1c2VyX2lkIjoiYWRhIiwidHlwZSI6ImFjY2VzcyJ9.wDr-fG4juka6NfV4N-wewlCneWDfVE35ADmDM2pNYoU';
    expect(verifyAccessToken(token, [toSecret('secret')], NOW)).toEqual({ userId: 'ada' });
  });

  test('may carry what it likes beside', () => {
    expect(
      claimed({
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

  test('of 7 kB is good, of 16 kB is not (A8)', () => {
    expect(claimed({ roles: 'r'.repeat(5_300) })).toEqual({ userId: 'ada' });
    expect(claimed({ roles: 'r'.repeat(11_950) })).toBeUndefined();
  });
});

describe('an unsigned or wrongly signed token is rejected (A1, A2)', () => {
  const claims = encode('{"user_id":"ada","type":"access"}');
  const mac = (text: string, hash: string, key: string) =>
    createHmac(hash, key).update(text).digest('base64url');
  const key = current.reveal();

  test.each(['none', 'None', 'NONE', 'nOnE', '', null, [], ['none'], undefined])(
    'alg %j, with and without a MAC',
    (alg) => {
      const text = `${encode(JSON.stringify({ alg, typ: 'JWT' }))}.${claims}`;
      const tokens = [
        text,
        `${text}.`,
        `${text}.${mac(text, 'sha256', '')}`,
        `${text}.${mac(text, 'sha256', key)}`,
        `${text}.AA`,
      ];
      expect(tokens.map((token) => verify(token))).toEqual(tokens.map(() => undefined));
    },
  );

  test.each([
    ['HS384', 'sha384'],
    ['HS512', 'sha512'],
    ['HS256', 'sha384'],
    ['HS384', 'sha256'],
    ['HS256 ', 'sha256'],
    ['hs256', 'sha256'],
    ['HS256', 'sha1'],
  ])('alg %s with %s', (alg, hash) => {
    const text = `${encode(JSON.stringify({ alg, typ: 'JWT' }))}.${claims}`;
    expect(verify(`${text}.${mac(text, hash, key)}`)).toBeUndefined();
  });

  test('RS256, and HS256 with the public key as the secret', () => {
    const { publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const texts = ['RS256', 'HS256'].map((alg) => `${encode(JSON.stringify({ alg }))}.${claims}`);
    expect(texts.map((text) => verify(`${text}.${mac(text, 'sha256', publicKey)}`))).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('a key that the token brings itself (A3)', () => {
    const own = Buffer.from('attacker').toString('base64url');
    const headers = [
      { jwk: { kty: 'oct', k: own } },
      { jku: 'https://evil.example/keys' },
      { x5u: 'https://evil.example/c' },
      { kid: '/dev/null' },
      { kid: '' },
    ];
    const texts = headers.map((extra) => `${encode(JSON.stringify({ alg: 'HS256', ...extra }))}.${claims}`);
    expect(
      texts.flatMap((text) => [
        verify(`${text}.${mac(text, 'sha256', 'attacker')}`),
        verify(`${text}.${mac(text, 'sha256', '')}`),
      ]),
    ).toEqual(Array(10).fill(undefined));
  });
});

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
    expect(claimed({ type })).toBeUndefined();
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
    expect(verify(written(claims))).toBeUndefined();
  });

  test('claims that are not UTF-8', () => {
    const text = `${encode('{"alg":"HS256"}')}.${Buffer.from('{"user_id":"\xff","type":"access"}', 'latin1').toString('base64url')}`;
    expect(
      verify(`${text}.${createHmac('sha256', current.reveal()).update(text).digest('base64url')}`),
    ).toBeUndefined();
  });
});

describe('whose token it is stays unmistakable (A6)', () => {
  test.each([
    ['ada', 'ada'],
    ['Zoë 🦊', 'Zoë 🦊'],
    [42, '42'],
    [-1, '-1'],
    [9007199254740991, '9007199254740991'],
  ])('user_id %j counts', (user_id, userId) => {
    expect(claimed({ user_id })).toEqual({ userId });
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
  ])('user_id %j is refused', (user_id) => {
    expect(claimed({ user_id })).toBeUndefined();
  });

  test('user_id may have 255 code points and no more', () => {
    const longest = '𝒳'.repeat(255);
    expect(claimed({ user_id: longest })).toEqual({ userId: longest });
    expect([`${longest}x`, 'x'.repeat(8_000)].map((user_id) => claimed({ user_id }))).toEqual([
      undefined,
      undefined,
    ]);
  });

  test.each(['9007199254740993', '1e400', '-1e400', '0.1', '12345678901234567890123'])(
    'the number %s is refused: it would be read as another',
    (number) => {
      expect(verify(written(`{"user_id":${number},"type":"access"}`))).toBeUndefined();
    },
  );

  test('a lone surrogate is rejected', () => {
    expect(verify(written('{"user_id":"a\\ud800","type":"access"}'))).toBeUndefined();
  });

  test.each([
    '{"user_id":"ada","user_id":"eve","type":"access"}',
    '{"user_id":"ada","type":"refresh","type":"access"}',
    '{"user_id":"ada","type":"access","user\\u005fid":"eve"}',
    '{"user_id":"ada","type":"access","exp":1,"exp":9999999999}',
  ])('a claim that is there twice is refused: %s', (claims) => {
    expect(verify(written(claims))).toBeUndefined();
  });

  test.each(['user_id', 'type'])("%s is the token's own, never a prototype's", (name) => {
    const claims: Record<string, unknown> = { user_id: 'ada', type: 'access' };
    const lent = claims[name];
    delete claims[name];
    Object.defineProperty(Object.prototype, name, { value: lent, configurable: true });
    try {
      expect(verify(written(JSON.stringify(claims)))).toBeUndefined();
      expect(
        verify(
          written(
            JSON.stringify({ ...claims, __proto__: null }).replace(
              '{',
              `{"__proto__":{"${name}":"${lent}"},`,
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
  test('an expired token is rejected, five seconds of leeway granted', () => {
    const at = (exp: number) => claimed({ exp }) !== undefined;
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

  test('a token from the future is rejected, five seconds of leeway granted', () => {
    const at = (nbf: number) => claimed({ nbf }) !== undefined;
    expect([0, NOW, NOW + 5, NOW + 5.5, NOW + 6, NOW + 3_600].map(at)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test('both limits count, whatever the other says', () => {
    expect(claimed({ exp: NOW + 60, nbf: NOW - 60 })).toEqual({ userId: 'ada' });
    expect(claimed({ exp: NOW + 60, nbf: NOW + 30 })).toBeUndefined();
    expect(claimed({ exp: NOW - 30, nbf: NOW - 60 })).toBeUndefined();
  });

  test('without limits it does not end', () => {
    expect(verify(signAccessToken({ user_id: 'ada', type: 'access' }, current), NOW * 2)).toEqual({
      userId: 'ada',
    });
  });

  const odd = [String(NOW + 60), '', null, true, [NOW + 60], {}, -1, (NOW + 60) * 1_000, 1e20];
  test.each(odd)('exp %j is rejected', (exp) => {
    expect(claimed({ exp })).toBeUndefined();
  });

  test.each([...odd, String(NOW - 60), (NOW - 60) * 1_000])('nbf %j is refused', (nbf) => {
    expect(claimed({ nbf })).toBeUndefined();
  });

  test('an endless number is rejected', () => {
    expect(verify(written('{"user_id":"ada","type":"access","exp":1e400}'))).toBeUndefined();
    expect(verify(written('{"user_id":"ada","type":"access","nbf":-1e400}'))).toBeUndefined();
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
    expect(verify(token)).toEqual({ userId: 'ada' });
  });

  test('is rejected for 100 000 random replacements, insertions and deletions', () => {
    const accepted = (seed: number) =>
      [...randomEdits(token, { count: 1_000, seed })].filter((edited) => verify(edited));
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(accepted(seed)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test('random texts are rejected', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => verify(text) === undefined),
      { numRuns: 1_000 },
    );
  });
});
