// Tests the verification of onprem webhook signatures (contract A5, B6).
import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomEdits } from '../../../../test/support/assets/random-edits.ts';
import { toSecret } from '../../auth/secret.ts';
import { checkOnpremSignature, signOnprem } from './onprem-signature.ts';

const SECRET = 'onprem-secret';
const key = toSecret(SECRET);
const BODY = '{"asset_id":"11111111-2222-4333-8444-555555555555","status":"ready"}';
const GOOD = '5ae57f1811e9b99f7e450201b19e483a6e429a1732f9dd78c4fe90d29cf6710a';
const OTHER = signOnprem(Buffer.from('another body'), key);

type Sent = Readonly<Record<string, string | readonly string[]>>;

function check(sent: Sent, body = Buffer.from(BODY), keys = [key]): boolean {
  const headers = new Map(Object.entries(sent).map(([name, value]) => [`x-${name}`, [value].flat()]));
  return checkOnpremSignature((name) => headers.get(name) ?? [], body, keys);
}

describe('the signature of onprem', () => {
  test('is SHA-256 of the raw body with the secret behind it, in hex', () => {
    expect(signOnprem(Buffer.from(BODY), key)).toBe(GOOD);
  });

  test.each<[string, Sent]>([
    ['as X-Onprem-Signature', { 'onprem-signature': GOOD }],
    ['as X-Webhook-Signature', { 'webhook-signature': GOOD }],
    ['as both, the same', { 'onprem-signature': GOOD, 'webhook-signature': GOOD }],
    ['as both, in different case', { 'onprem-signature': GOOD, 'webhook-signature': GOOD.toUpperCase() }],
    ['as X-Signature, where nothing else is', { signature: GOOD }],
    ['beside a wrong X-Signature, which is not read then', { 'onprem-signature': GOOD, signature: OTHER }],
    ['in upper case', { 'webhook-signature': GOOD.toUpperCase() }],
    ['in mixed case', { 'onprem-signature': `${GOOD.slice(0, 32)}${GOOD.slice(32).toUpperCase()}` }],
    ['on two lines, the same', { 'onprem-signature': [GOOD, GOOD] }],
  ])('is accepted %s', (_, sent) => {
    expect(check(sent)).toBe(true);
  });

  test.each<[string, Sent]>([
    ['missing', {}],
    ['under another name', { 'cdnhost-signature': GOOD, 'hub-signature-256': GOOD }],
    ['as both, the second wrong', { 'onprem-signature': GOOD, 'webhook-signature': OTHER }],
    ['as both, the first wrong', { 'onprem-signature': OTHER, 'webhook-signature': GOOD }],
    ['as both, one empty', { 'onprem-signature': GOOD, 'webhook-signature': '' }],
    ['wrong under a named header, right as X-Signature', { 'onprem-signature': OTHER, signature: GOOD }],
    ['empty under a named header, right as X-Signature', { 'webhook-signature': '', signature: GOOD }],
    ['right and wrong on two lines', { 'onprem-signature': [GOOD, OTHER] }],
    ['right and wrong on two lines of X-Signature', { signature: [OTHER, GOOD] }],
    ['joined from two lines', { 'onprem-signature': `${GOOD}, ${GOOD}` }],
    ['empty', { 'onprem-signature': '' }],
    ['with a prefix', { 'onprem-signature': `sha256=${GOOD}` }],
    ['with a space', { 'onprem-signature': `${GOOD} ` }],
    ['cut', { 'onprem-signature': GOOD.slice(1) }],
    ['longer', { 'onprem-signature': `${GOOD}0` }],
    ['with a letter that is no digit', { 'onprem-signature': `g${GOOD.slice(1)}` }],
    ['in full-width digits', { 'onprem-signature': GOOD.replaceAll('5', '５') }],
    ['of 64 kB', { 'onprem-signature': 'f'.repeat(65_536) }],
    ['in base64', { 'onprem-signature': Buffer.from(GOOD, 'hex').toString('base64') }],
    ['made as HMAC', { 'onprem-signature': createHmac('sha256', SECRET).update(BODY).digest('hex') }],
    [
      'with the secret in front',
      {
        'onprem-signature': createHash('sha256')
          .update(SECRET + BODY)
          .digest('hex'),
      },
    ],
    ['made without the secret', { 'onprem-signature': createHash('sha256').update(BODY).digest('hex') }],
    ['that is the secret itself', { 'onprem-signature': SECRET }],
  ])('is refused %s', (_, sent) => {
    expect(check(sent)).toBe(false);
  });

  test.each([
    ['read and written again', JSON.stringify(JSON.parse(BODY), null, 1)],
    ['with a line end', `${BODY}\n`],
    ['with a byte order mark', `\ufeff${BODY}`],
    ['with another status', BODY.replace('ready', 'failed')],
    ['empty', ''],
  ])('does not cover the body %s', (_, body) => {
    expect(check({ 'onprem-signature': GOOD }, Buffer.from(body))).toBe(false);
  });

  test('covers bytes that are no text', () => {
    const body = Buffer.from([0, 255, 254, 10]);
    expect(check({ signature: signOnprem(body, key) }, body)).toBe(true);
  });

  test('may use the current or the previous secret', () => {
    const next = toSecret('onprem-next-secret');
    expect(
      [[next, key], [key], [next], []].map((keys) => check({ signature: GOOD }, Buffer.from(BODY), keys)),
    ).toEqual([true, true, false, false]);
  });

  test('does not fit after any of 10 000 random edits, the case of a digit excepted', () => {
    const accepted = (seed: number) =>
      [...randomEdits(GOOD, { count: 1_000, seed })].filter(
        (edited) => check({ signature: edited }) && edited.toLowerCase() !== GOOD,
      );
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(accepted(seed)).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });
});
