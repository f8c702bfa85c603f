// Access tokens with a missing, foreign or forged signature are rejected (contract A4).
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { current, encode, verify } from './access-token.fixture.ts';

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
