// Tests the verification of cdnhost webhook signatures (contract A5, B6).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomEdits } from '../../../../test/support/assets/random-edits.ts';
import { toSecret } from '../../auth/secret.ts';
import { checkCdnhostSignature, signCdnhost } from './cdnhost-signatures.ts';

const key = toSecret('cdnhost-read-only-key');
const BODY = '{"VideoLibraryId":4242,"VideoGuid":"11112222-3333-4444-8555-666677778888","Status":3}';
const GOOD = 'e40746eba5a525953f8039be78f9ff7ffde56ef0a9b6db559c6589574ffa3f39';
const OTHER = signCdnhost(Buffer.from('another body'), key);

type Sent = Readonly<Record<string, string | readonly string[]>>;

/** `ours` and `theirs` are the two header families. */
function check(sent: Sent, body = Buffer.from(BODY), keys = [key]): boolean {
  const full = (name: string) =>
    name.replace(/^ours/, 'x-cdnhost-signature').replace(/^theirs/, 'x-bunnystream-signature');
  const headers = new Map(Object.entries(sent).map(([name, value]) => [full(name), [value].flat()]));
  return checkCdnhostSignature((name) => headers.get(name) ?? [], body, keys);
}

describe('the signature of cdnhost', () => {
  test('is HMAC-SHA256 of the raw body under the read-only key, in lower-case hex', () => {
    expect(signCdnhost(Buffer.from(BODY), key)).toBe(GOOD);
  });

  test.each<[string, Sent]>([
    ['alone', { ours: GOOD }],
    ["under the product's own name", { theirs: GOOD }],
    ['with version and algorithm', { ours: GOOD, 'ours-version': 'v1', 'ours-algorithm': 'hmac-sha256' }],
    ['as the product sends it', { theirs: GOOD, 'theirs-version': 'v1', 'theirs-algorithm': 'hmac-sha256' }],
    ['with the version alone', { theirs: GOOD, 'theirs-version': 'v1' }],
    ['with the algorithm alone', { ours: GOOD, 'ours-algorithm': 'hmac-sha256' }],
    ['in both families, the same', { ours: GOOD, theirs: GOOD }],
    ['in upper case', { ours: GOOD.toUpperCase() }],
    ['in both families, one in upper case', { ours: GOOD, theirs: GOOD.toUpperCase() }],
    ['on two lines, the same', { ours: [GOOD, GOOD] }],
  ])('is accepted %s', (_, sent) => {
    expect(check(sent)).toBe(true);
  });

  test.each<[string, Sent]>([
    ['missing', {}],
    [
      'missing, though version and algorithm are there',
      { 'ours-version': 'v1', 'ours-algorithm': 'hmac-sha256' },
    ],
    ['under another name', { 'x-signature': GOOD, 'x-bunny-signature': GOOD, 'x-onprem-signature': GOOD }],
    ['right in one family, wrong in the other', { ours: GOOD, theirs: OTHER }],
    ['wrong in one family, right in the other', { ours: OTHER, theirs: GOOD }],
    ['right in one family, empty in the other', { ours: GOOD, theirs: '' }],
    ['right and wrong on two lines', { ours: [GOOD, OTHER] }],
    ['wrong and right on two lines', { ours: [OTHER, GOOD] }],
    ['wrong twice', { ours: OTHER, theirs: OTHER }],
    ['joined from two lines', { ours: `${GOOD}, ${GOOD}` }],
    ['with version v2', { ours: GOOD, 'ours-version': 'v2' }],
    ['with version V1', { ours: GOOD, 'ours-version': 'V1' }],
    ['with an empty version', { ours: GOOD, 'ours-version': '' }],
    ['with two versions', { ours: GOOD, 'ours-version': ['v1', 'v2'] }],
    [
      'with the wrong version in the other family',
      { ours: GOOD, 'ours-version': 'v1', 'theirs-version': 'v2' },
    ],
    ['with the algorithm hmac-sha1', { theirs: GOOD, 'theirs-algorithm': 'hmac-sha1' }],
    ['with the algorithm HMAC-SHA256', { theirs: GOOD, 'theirs-algorithm': 'HMAC-SHA256' }],
    ['with the algorithm none', { theirs: GOOD, 'theirs-algorithm': 'none' }],
    ['with the wrong algorithm in the other family', { theirs: GOOD, 'ours-algorithm': 'sha256' }],
    ['empty', { ours: '' }],
    ['cut', { ours: GOOD.slice(0, -2) }],
    ['longer', { ours: `${GOOD}00` }],
    ['with a prefix', { ours: `sha256=${GOOD}` }],
    ['with a space', { ours: ` ${GOOD}` }],
    ['with a letter that is no digit', { ours: `${GOOD.slice(0, -1)}g` }],
    ['in full-width digits', { ours: GOOD.replaceAll('0', '０') }],
    ['of 64 kB', { ours: 'f'.repeat(65_536) }],
  ])('is refused %s', (_, sent) => {
    expect(check(sent)).toBe(false);
  });

  test.each([
    ['read and written again', JSON.stringify(JSON.parse(BODY), null, 1)],
    [
      'with its keys in another order',
      '{"VideoGuid":"11112222-3333-4444-8555-666677778888","VideoLibraryId":4242,"Status":3}',
    ],
    ['with an escape', BODY.replace('Status', '\\u0053tatus')],
    ['with a line end', `${BODY}\n`],
    ['with a byte order mark', `\ufeff${BODY}`],
    ['with another status', BODY.replace('3}', '5}')],
    ['empty', ''],
  ])('does not cover the body %s', (_, body) => {
    expect(check({ ours: GOOD }, Buffer.from(body))).toBe(false);
  });

  test('covers bytes that are no text', () => {
    const body = Buffer.from([0, 255, 254, 10]);
    expect(check({ ours: signCdnhost(body, key) }, body)).toBe(true);
  });

  test('may be made with the current key or with the previous one', () => {
    const next = toSecret('cdnhost-next-key');
    expect(
      [[next, key], [key], [next], []].map((keys) => check({ ours: GOOD }, Buffer.from(BODY), keys)),
    ).toEqual([true, true, false, false]);
  });

  test('is rejected after any of 10 000 random edits of more than the case of a digit', () => {
    const accepted = (seed: number) =>
      [...randomEdits(GOOD, { count: 1_000, seed })].filter(
        (ours) => ours.toLowerCase() !== GOOD && check({ ours }),
      );
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(accepted(seed)).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });
});
