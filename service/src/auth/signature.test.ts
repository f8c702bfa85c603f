// Tests the comparison of received digests.
import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomEdits } from '../../../test/support/assets/random-edits.ts';
import { TEST_DATA } from '../../../test/support/clips/test-data.ts';
import { toSecret } from './secret.ts';
import { equalHex, fromBase64url, hmacSha256, sha256Concat, toBase64url } from './signature.ts';

const expected = Buffer.from('00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff', 'hex');
const lower = expected.toString('hex');

describe('a received digest', () => {
  test('is read in either case', () => {
    const upper = lower.toUpperCase();
    const mixed = `${lower.slice(0, 30)}${upper.slice(30)}`;
    expect([lower, upper, mixed].map((given) => equalHex(given, expected))).toEqual([true, true, true]);
  });

  test.each([
    '',
    ' ',
    lower.slice(2),
    lower.slice(0, -1),
    `${lower}00`,
    `${lower}0`,
    ` ${lower}`,
    `${lower} `,
    `${lower}\n`,
    ` ${lower.slice(1)}`,
    `sha256=${lower}`,
    `0x${lower}`,
    `0x${lower.slice(2)}`,
    `${lower},${lower}`,
    `${lower}, ${lower}`,
    `${lower.slice(0, -1)}g`,
    `${lower.slice(0, -2)}zz`,
    `zz${lower.slice(2)}`,
    `${lower.slice(0, -1)}\0`,
    expected.toString('base64'),
    '０'.repeat(64),
    lower.replaceAll('0', '０'),
    lower.replaceAll('a', 'ａ'),
    `${lower.slice(0, 63)}é`,
    `"${lower}"`,
  ])('is refused as %j', (given) => {
    expect(equalHex(given, expected)).toBe(false);
  });

  test('is rejected after any of 100 000 random edits, unless only the case of a digit changed', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        for (const edited of randomEdits(lower, { count: 1_000, seed })) {
          if (equalHex(edited, expected) !== (edited.toLowerCase() === lower)) return false;
        }
        return true;
      }),
      { numRuns: 100 },
    );
  });

  test('is rejected at 64 kB', () => {
    expect(equalHex('f'.repeat(65_536), expected)).toBe(false);
  });
});

describe('digests', () => {
  test('parts are signed as one text', () => {
    const { key } = toSecret('k');
    expect(hmacSha256(key, '17', '.', Buffer.from('{}'))).toEqual(hmacSha256(key, '17.{}'));
  });

  test('HMAC-SHA256 gives what RFC 4231 gives (test case 2)', () => {
    expect(hmacSha256(toSecret('Jefe').key, 'what do ya want for nothing?').toString('hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  test('the secret follows the body, as UTF-8', () => {
    expect(sha256Concat(Buffer.from('a'), toSecret('bc')).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(sha256Concat(Buffer.from('aü'), toSecret('鍵'))).toEqual(
      sha256Concat(Buffer.from('aü鍵').subarray(0, 3), toSecret('鍵')),
    );
  });
});

describe.skipIf(!TEST_DATA)('the vectors of Wycheproof', () => {
  type Vector = {
    readonly tcId: number;
    readonly key: string;
    readonly msg: string;
    readonly tag: string;
    readonly result: string;
  };
  const read = () => {
    const file = join(TEST_DATA ?? '', 'hmac-vectors/wycheproof/testvectors_v1/hmac_sha256_test.json');
    const { testGroups }: { testGroups: { tests: Vector[] }[] } = JSON.parse(readFileSync(file, 'utf8'));
    return testGroups.flatMap((group) => group.tests);
  };
  const macOf = ({ key, msg }: Vector) => hmacSha256(createSecretKey(key, 'hex'), Buffer.from(msg, 'hex'));

  test('none is accepted wrongly: a full tag that is valid, and nothing shorter or modified', () => {
    const vectors = read();
    expect(vectors.length).toBe(174);
    const isDue = ({ result, tag }: Vector) => result === 'valid' && tag.length === 64;
    const wrong = vectors.filter((vector) => equalHex(vector.tag, macOf(vector)) !== isDue(vector));
    expect(wrong.map((vector) => vector.tcId)).toEqual([]);
    expect(vectors.filter(isDue).length).toBeGreaterThan(30);
  });

  test('every valid tag, truncated ones too, is the head of our digest', () => {
    const wrong = read().filter(
      (vector) => macOf(vector).toString('hex').startsWith(vector.tag) !== (vector.result === 'valid'),
    );
    expect(wrong.map((vector) => vector.tcId)).toEqual([]);
  });
});

describe('base64url', () => {
  test('reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(fromBase64url(toBase64url(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test('has one text for each byte string: whatever it reads, it would write the same', () => {
    const nearly = fc.string({ unit: fc.constantFrom(...'ABYZabyz0189-_+/= \n.~é'), maxLength: 12 });
    fc.assert(
      fc.property(nearly, (text) => {
        const bytes = fromBase64url(text);
        expect(bytes === undefined || toBase64url(bytes) === text).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  test.each([
    ['padding', 'AA=='],
    ['the standard alphabet', '+/8A'],
    ['a space', 'AA AA'],
    ['a line end', 'AAAA\n'],
    ['a length that no bytes have', 'AAAAA'],
    ['unused bits that are set (two)', 'AAB'],
    ['unused bits that are set (four)', 'AB'],
    ['full-width letters', 'ＡＡＡＡ'],
    ['a dot', 'AA.AA'],
  ])('refuses %s', (_, text) => {
    expect(fromBase64url(text)).toBeUndefined();
  });
});
