// Tests compact JWS with HS256.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TEST_DATA } from '../../../../test/support/clips/test-data.ts';
import { verifyHs256, signHs256 } from './hs256.ts';
import { toSecret } from '../secret.ts';

const { key } = toSecret('hs256-secret-0123456789-0123456789');
const other = toSecret('hs256-other-0123456789-0123456789').key;

const encode = (text: string) => Buffer.from(text).toString('base64url');

/** Signed with our key whatever it says, so that the form alone decides. */
function signed(text: string, by: KeyObject = key): string {
  return `${text}.${createHmac('sha256', by).update(text).digest('base64url')}`;
}

const withHeader = (header: string) => signed(`${encode(header)}.${encode('payload')}`);
const payloadOf = (token: string, keys: readonly KeyObject[]) => {
  const payload = verifyHs256(token, keys);
  return Buffer.isBuffer(payload) ? payload.toString() : undefined;
};
const opened = (token: string) => payloadOf(token, [key]);

describe('a compact JWS with HS256', () => {
  test('gives its payload back, any bytes', () => {
    expect(opened(signHs256('{"ä":1}', key))).toBe('{"ä":1}');
    expect(opened(signHs256('', key))).toBe('');
  });

  test('opens with the current key and with the previous one', () => {
    const token = signHs256('payload', key);
    expect(
      [[key], [key, other], [other, key], [other], []].map((keys) => payloadOf(token, keys) !== undefined),
    ).toEqual([true, true, true, false, false]);
  });

  test.each([
    '{"alg":"HS256"}',
    '{"alg":"HS256","typ":"JWT"}',
    '{"typ":"JWT","alg":"HS256"}',
    '{ "alg" : "HS256" }',
    '{"alg":"HS256","typ":7}',
    '{"alg":"HS256","kid":"../../dev/null"}',
    '{"alg":"HS256","kid":"\' or 1=1 --"}',
    '{"alg":"HS256","kid":null,"cty":"JWT"}',
  ])('the header %s is read', (header) => {
    expect(opened(withHeader(header))).toBe('payload');
  });

  test('a kid of 5 000 characters changes nothing', () => {
    expect(opened(withHeader(`{"alg":"HS256","kid":"${'k'.repeat(5_000)}"}`))).toBe('payload');
  });

  test('has at most 12,288 characters', () => {
    const [longest, longer] = [9155, 9156].map((bytes) => signHs256('x'.repeat(bytes), key)) as [
      string,
      string,
    ];
    expect([longest.length, longer.length]).toEqual([12_288, 12_289]);
    expect(opened(longest)).toBe('x'.repeat(9155));
    expect(verifyHs256(longer, [key])).toBe('malformed');
  });

  const algorithms = [
    'none',
    'None',
    'NONE',
    'nOnE',
    '',
    'HS384',
    'HS512',
    'RS256',
    'ES256',
    'PS256',
    'EdDSA',
    'hs256',
    'Hs256',
    'HS256 ',
    ' HS256',
    'HS256\0',
    'ＨＳ256',
    'HMAC-SHA256',
    'A128KW',
    'dir',
  ];
  test.each([
    ...algorithms.map((alg) => JSON.stringify({ alg, typ: 'JWT' })),
    '{"alg":null}',
    '{"alg":["HS256"]}',
    '{"alg":{"0":"HS256"}}',
    '{"alg":256}',
    '{"typ":"JWT"}',
    '{}',
    '{"ALG":"HS256"}',
    '{"__proto__":{"alg":"HS256"}}',
    '{"alg":"none","alg":"HS256"}',
    '{"alg":"HS256","alg":"none"}',
    '{"alg":"HS256","\\u0061lg":"HS256"}',
  ])('the header %s is refused, though our key signed it', (header) => {
    expect(opened(withHeader(header))).toBeUndefined();
  });

  test.each([
    '"crit":["exp"]',
    '"crit":[]',
    '"crit":null',
    '"b64":false,"crit":["b64"]',
    '"b64":false',
    '"zip":"DEF"',
    '"jku":"https://evil.example/keys"',
    '"x5u":"https://evil.example/cert"',
    '"x5c":["AA=="]',
    '"jwk":{"kty":"oct","k":"AA"}',
  ])('a header with %s is refused', (member) => {
    expect(opened(withHeader(`{"alg":"HS256",${member}}`))).toBeUndefined();
  });

  test.each([
    '',
    'null',
    '"HS256"',
    '["HS256"]',
    '[{"alg":"HS256"}]',
    '{"alg":"HS256"',
    '\ufeff{"alg":"HS256"}',
    "{'alg':'HS256'}",
  ])('%j is no header', (header) => {
    expect(opened(withHeader(header))).toBeUndefined();
  });

  const header = encode('{"alg":"HS256"}');
  test.each([
    ['two parts', header],
    ['two empty parts', ''],
    ['four parts', `${header}.${encode('p')}.${encode('q')}`],
    ['five parts, as encrypted tokens have', `${header}.a2V5.aXY.Y2lwaGVy`],
    ['a dot before', `.${header}.${encode('p')}`],
    ['an empty header', `.${encode('p')}`],
    ['padding in the payload', `${header}.${Buffer.from('p').toString('base64')}`],
    ['unused bits in the payload', `${header}.cB`],
    ['a space in the payload', `${header}. cA`],
    ['a line end', `${header}.cA\n`],
    ['standard base64', `${header}.+/8A`],
    ['padding in the header', `${Buffer.from('{"alg":"HS256"}').toString('base64url')}=.cA`],
    ['unused bits in the header', `${encode('{"alg":"HS256"} ').replace(/A$/, 'B')}.cA`],
  ])('%s: refused, though our key signed it', (_, text) => {
    expect(opened(signed(text))).toBeUndefined();
  });

  const good = signed(`${header}.cA`);
  const mac = good.slice(good.lastIndexOf('.') + 1);
  const bare = good.slice(0, -mac.length);
  const digest = Buffer.from(mac, 'base64url');
  const hexOf = digest.toString('hex');
  test.each([
    ['nothing', ''],
    ['half', mac.slice(0, 21)],
    ['cut by one', mac.slice(0, -1)],
    ['one more', `${mac}A`],
    ['twice', mac + mac],
    ['a space before', ` ${mac}`],
    ['a space after', `${mac} `],
    ['a line end after', `${mac}\n`],
    ['padding', `${mac}=`],
    ['standard base64', digest.toString('base64')],
    ['hex', hexOf],
    ['an empty MAC of zero bits', 'A'.repeat(43)],
    ['multi-byte characters', '鍵'.repeat(43)],
    [
      'characters with the same low byte',
      mac.replace(/[A-Z]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 256)),
    ],
  ])('a MAC of %s is refused', (_, given) => {
    expect(opened(`${bare}${given}`)).toBeUndefined();
  });

  test('a MAC with its unused bits set is rejected', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(mac.slice(-1));
    const spellings = [1, 2, 3].map((bits) => `${mac.slice(0, -1)}${alphabet[last | bits]}`);
    expect(spellings.every((spelling) => Buffer.from(spelling, 'base64url').equals(digest))).toBe(true);
    expect(spellings.map((spelling) => opened(`${bare}${spelling}`))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(opened(`${bare}${mac}`)).toBe('p');
  });

  test.each([
    '',
    '.',
    '..',
    '...',
    'a.b.c',
    'null',
    `${header}..`,
    `${header}.cA.`,
    `${header}.cA`,
    good.replaceAll('.', '。'),
    JSON.stringify({ payload: 'cA', protected: header, signature: mac }),
  ])('%j is no token', (token) => {
    expect(opened(token)).toBeUndefined();
  });

  test('7 kB are read, 16 kB are not', () => {
    const sized = (bytes: number) => signHs256('x'.repeat(bytes), key);
    expect(sized(5_400).length).toBeGreaterThan(7_168);
    expect(opened(sized(5_400))).toBe('x'.repeat(5_400));
    expect(sized(11_850).length).toBeLessThan(16_000);
    expect([11_850, 750_000].map((bytes) => opened(sized(bytes)))).toEqual([undefined, undefined]);
    expect(['.', 'A', '鍵'].map((char) => opened(char.repeat(12_000)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test.skipIf(!TEST_DATA)(
  'the HS256 example of the JOSE cookbook opens, and stays shut with one bit changed',
  () => {
    const file = join(TEST_DATA ?? '', 'hmac-vectors/cookbook/jws/4_4.hmac-sha2_integrity_protection.json');
    const { input, output } = JSON.parse(readFileSync(file, 'utf8'));
    const keys = [createSecretKey(input.key.k, 'base64url')];
    expect(payloadOf(output.compact, keys)).toBe(input.payload);
    expect(payloadOf(output.compact.replace(/s0h6/, 's0h7'), keys)).toBeUndefined();
    expect(payloadOf(output.compact.replace(/\.SXT/, '.SXU'), keys)).toBeUndefined();
  },
);
