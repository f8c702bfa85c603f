// Tests the verification of edgehost webhook signatures (contract A5, B6).
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomEdits } from '../../../../test/support/assets/random-edits.ts';
import { toSecret } from '../../auth/secret.ts';
import { checkEdgehostSignature, signEdgehost } from './edgehost-signatures.ts';

const SECRET = 'edgehost-secret';
const key = toSecret(SECRET);
const next = toSecret('edgehost-next-secret');
const NOW = 1_700_000_000;
const BODY = '{"uid":"00112233445566778899aabbccddeeff","readyToStream":true,"status":{"state":"ready"}}';
const GOOD = '90d11adb96997976febf9894e43495787cd1ae1b15e14b556a22888834e54327';
const WRONG = 'f'.repeat(64);

type Asked = {
  readonly body?: string;
  readonly secrets?: readonly (typeof key)[];
  readonly now?: number;
  readonly tolerance?: number;
};

function check(
  header: string | readonly string[],
  { body = BODY, secrets = [key], now = NOW, tolerance = 300 }: Asked = {},
): boolean {
  const values = (name: string) => (name === 'webhook-signature' ? [header].flat() : []);
  return checkEdgehostSignature(values, Buffer.from(body), {
    secrets,
    nowSeconds: now,
    toleranceSeconds: tolerance,
  });
}

/** A valid signature over the exact text of the time. */
const signedAt = (time: string) =>
  `time=${time},sig1=${createHmac('sha256', SECRET).update(`${time}.${BODY}`).digest('hex')}`;

describe('the signature of edgehost', () => {
  test('is HMAC-SHA256 of time, dot and raw body, in hex', () => {
    expect(signEdgehost(Buffer.from(BODY), key, NOW)).toBe(`time=${NOW},sig1=${GOOD}`);
  });

  test.each([
    ['as the product sends it', `time=${NOW},sig1=${GOOD}`],
    ['in the other order', `sig1=${GOOD},time=${NOW}`],
    ['in upper case', `time=${NOW},sig1=${GOOD.toUpperCase()}`],
    ['first of two, during a rotation', `time=${NOW},sig1=${GOOD},sig1=${WRONG}`],
    ['second of two, during a rotation', `time=${NOW},sig1=${WRONG},sig1=${GOOD}`],
    ['beside a damaged one', `time=${NOW},sig1=,sig1=${GOOD}`],
    ['with blanks around the comma', `time=${NOW} ,\t sig1=${GOOD}`],
    ['with members nobody knows', `time=${NOW},sig0=x,sig1=${GOOD},sig2=${WRONG},v=1=2,,`],
  ])('is accepted %s', (_, header) => {
    expect(check(header)).toBe(true);
  });

  test.each<[string, string | readonly string[]]>([
    ['missing', []],
    ['empty', ''],
    ['without a time', `sig1=${GOOD}`],
    ['without a digest', `time=${NOW}`],
    ['with an empty time', `time=,sig1=${GOOD}`],
    ['with the time twice', `time=${NOW},time=${NOW},sig1=${GOOD}`],
    ['with two times', `time=${NOW},sig1=${GOOD},time=${NOW + 1}`],
    ['with a second time that has no value', `time=${NOW},sig1=${GOOD},time`],
    ['with another time', `time=${NOW + 1},sig1=${GOOD}`],
    ['with its names in another case', `Time=${NOW},Sig1=${GOOD}`],
    ['with a space before', ` time=${NOW},sig1=${GOOD}`],
    ['with a space behind', `time=${NOW},sig1=${GOOD} `],
    ['with semicolons', `time=${NOW};sig1=${GOOD}`],
    ["with another digest's name", `time=${NOW},sig2=${GOOD}`],
    ['with the names of other products', `t=${NOW},v1=${GOOD}`],
    ['with a second equals sign', `time=${NOW},sig1==${GOOD}`],
    ['with something behind the digest', `time=${NOW},sig1=${GOOD}=`],
    ['in quotes', `time=${NOW},sig1="${GOOD}"`],
    ['bare', GOOD],
    ['wrong', `time=${NOW},sig1=${WRONG}`],
    ['wrong three times', `time=${NOW}${`,sig1=${WRONG}`.repeat(3)}`],
    ['cut', `time=${NOW},sig1=${GOOD.slice(0, -1)}`],
    ['longer', `time=${NOW},sig1=${GOOD}00`],
    ['with a prefix', `time=${NOW},sig1=sha256=${GOOD}`],
    ['with a letter that is no digit', `time=${NOW},sig1=${GOOD.slice(0, -1)}g`],
    ['in full-width digits', `time=${NOW},sig1=${GOOD.replaceAll('9', '９')}`],
    ['of 64 kB', `time=${NOW},sig1=${'f'.repeat(65_536)}`],
    ['made without the time', `time=${NOW},sig1=${createHmac('sha256', SECRET).update(BODY).digest('hex')}`],
    ['on two lines, the same', [`time=${NOW},sig1=${GOOD}`, `time=${NOW},sig1=${GOOD}`]],
    ['on two lines, a wrong one first', [`time=${NOW},sig1=${WRONG}`, `time=${NOW},sig1=${GOOD}`]],
    ['split over two lines', [`time=${NOW}`, `sig1=${GOOD}`]],
    ['joined from two lines', `time=${NOW},sig1=${GOOD}, time=${NOW},sig1=${GOOD}`],
  ])('is refused %s', (_, header) => {
    expect(check(header)).toBe(false);
  });

  test.each([
    ['read and written again', JSON.stringify(JSON.parse(BODY), null, 1)],
    ['with a line end', `${BODY}\n`],
    ['with a byte order mark', `\ufeff${BODY}`],
    ['with a dot before', `.${BODY}`],
    ['empty', ''],
  ])('does not cover the body %s', (_, body) => {
    expect(check(`time=${NOW},sig1=${GOOD}`, { body })).toBe(false);
  });

  test('may use the current or the previous secret', () => {
    const results = [[next, key], [key], [next], []].map((secrets) =>
      check(`time=${NOW},sig1=${GOOD}`, { secrets }),
    );
    expect(results).toEqual([true, true, false, false]);
  });

  test('is invalid after 10 000 random edits, except of digit case, blanks and unread members', () => {
    const header = `time=${NOW},sig1=${GOOD}`;
    const isSame = (edited: string) => {
      const members = edited.split(/[ \t]*,[ \t]*/);
      return (
        members.includes(`time=${NOW}`) && members.some((member) => member.toLowerCase() === `sig1=${GOOD}`)
      );
    };
    const accepted = (seed: number) =>
      [...randomEdits(header, { count: 1_000, seed })].filter((edited) => check(edited) && !isSame(edited));
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(accepted(seed)).toEqual([]);
      }),
      { numRuns: 10, examples: [[2013265876]] },
    );
  });
});

test('a header of 32 KiB takes no more than milliseconds', () => {
  for (const filler of [' ', '\t', ',', '=', ' ,'])
    for (const tail of ['x', '']) {
      const start = performance.now();
      expect(check(`time=${NOW}${filler.repeat(32_000 / filler.length)}${tail}`)).toBe(false);
      expect(performance.now() - start).toBeLessThan(300);
    }
});

describe('the time of the signature', () => {
  const ages = [0, 299, 300, 301, 86_400];

  test('may be 300 seconds old, and no older', () => {
    expect(ages.map((age) => check(signedAt(String(NOW - age))))).toEqual([true, true, true, false, false]);
  });

  test('may lie 300 seconds ahead, and no further', () => {
    expect(ages.map((age) => check(signedAt(String(NOW + age))))).toEqual([true, true, true, false, false]);
  });

  test('is compared in whole seconds as written', () => {
    expect([300, 301].map((age) => check(signedAt(String(NOW)), { now: NOW + age + 0.9 }))).toEqual([
      true,
      false,
    ]);
    expect([300, 301].map((age) => check(signedAt(String(NOW)), { now: NOW - age + 0.9 }))).toEqual([
      true,
      false,
    ]);
  });

  test('has the tolerance that is set, and none at all where that is 0', () => {
    expect([9, 10, 11].map((age) => check(signedAt(String(NOW - age)), { tolerance: 10 }))).toEqual([
      true,
      true,
      false,
    ]);
    expect(
      ['0', '1', String(NOW - 86_400), String(NOW * 2)].map((time) =>
        check(signedAt(time), { tolerance: 0 }),
      ),
    ).toEqual([true, true, true, true]);
  });

  test('is signed as the text that was received', () => {
    expect(check(signedAt(`00${NOW}`))).toBe(true);
    expect(check(`time=00${NOW},sig1=${GOOD}`)).toBe(false);
  });

  const odd = [
    '',
    ' ',
    `+${NOW}`,
    `-${NOW}`,
    '1.7e9',
    '1e9',
    ` ${NOW}`,
    `${NOW} `,
    `\t${NOW}`,
    `${NOW}\n`,
    `${NOW}.0`,
    `${NOW}.5`,
    `0x${NOW.toString(16)}`,
    `0b1`,
    `${NOW}n`,
    `${NOW}s`,
    '1_700_000_000',
    '1 700 000 000',
    'now',
    'NaN',
    'Infinity',
    'null',
    '-0',
    '１７００００００００',
    '١٧٠٠٠٠٠٠٠٠',
    `${NOW}0000000000`,
    '0'.repeat(10) + NOW,
    String(NOW * 1_000),
    new Date(NOW * 1_000).toISOString(),
  ];
  test.each(odd)('%j is none, though it is well signed', (time) => {
    expect(check(signedAt(time))).toBe(false);
    expect(check(signedAt(time), { tolerance: 0 })).toBe(false);
  });
});
