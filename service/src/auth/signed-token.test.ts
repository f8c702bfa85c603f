// Tests keys for a purpose, and the tokens that they sign.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomEdits } from '../../../test/support/assets/random-edits.ts';
import { toSecret } from './secret.ts';
import { deriveKey, verifyToken, type Purpose, signToken } from './signed-token.ts';

const PURPOSES: readonly Purpose[] = ['upload', 'relay', 'download', 'playback', 'cursor', 'encoder'];
const root = toSecret('url-signing-secret-0123456789');
const key = deriveKey(root, 'playback');
const PAYLOAD = '0190b8e2-1111-7222-8333-444455556666.3.1700000000';

describe('purpose keys', () => {
  test('are the same for the same root and purpose, today and after a restart', () => {
    expect(deriveKey(toSecret(root.reveal()), 'upload').reveal()).toBe(deriveKey(root, 'upload').reveal());
    expect(deriveKey(root, 'upload')).toBe(deriveKey(root, 'upload'));
  });

  test('are what RFC 5869 gives for the purpose, so that a release cannot change them unseen', () => {
    // HKDF-SHA256, no salt, info "mediary upload", 32 bytes, base64url: computed with Python's hmac.
    expect(deriveKey(root, 'upload').reveal()).toBe('HmlBj4cOUPSAI38poAhuLwpsbyFZvVBPMLf2rT7PPZ0');
  });

  test('differ by purpose and by root', () => {
    const roots = [root, toSecret('another-root')];
    const texts = roots.flatMap((one) => PURPOSES.map((purpose) => deriveKey(one, purpose).reveal()));
    expect(new Set(texts).size).toBe(12);
    expect(texts.join(' ')).not.toContain(root.reveal());
  });
});

describe('a signed token', () => {
  test('gives its payload back, any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        (payload) => verifyToken([key], signToken(key, payload)) === payload,
      ),
      { numRuns: 500 },
    );
  });

  test('can stand in a path and in a query as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (payload) =>
        /^[A-Za-z0-9_-]+$/.test(signToken(key, payload)),
      ),
    );
  });

  test('costs 22 characters over its payload', () => {
    expect(signToken(key, PAYLOAD).length).toBe(Math.ceil(((PAYLOAD.length + 16) * 4) / 3));
  });

  test('opens for its purpose alone', () => {
    const upload = signToken(deriveKey(root, 'upload'), PAYLOAD);
    expect(
      PURPOSES.filter((purpose) => verifyToken([deriveKey(root, purpose)], upload) !== undefined),
    ).toEqual(['upload']);
  });

  test('opens with the current root and with the previous one, and with no other', () => {
    const token = signToken(key, PAYLOAD);
    const other = deriveKey(toSecret('another-root'), 'playback');
    expect([[key], [other, key], [key, other], [other], []].map((keys) => verifyToken(keys, token))).toEqual([
      PAYLOAD,
      PAYLOAD,
      PAYLOAD,
      undefined,
      undefined,
    ]);
  });

  test('is rejected after any of 100 000 random edits', () => {
    const token = signToken(key, PAYLOAD);
    const accepted = (seed: number) =>
      [...randomEdits(token, { count: 1_000, seed })].filter(
        (edited) => verifyToken([key], edited) !== undefined,
      );
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(accepted(seed)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  test('is rejected in another spelling of the same bytes', () => {
    const token = signToken(key, 'ab');
    const bytes = Buffer.from(token, 'base64url');
    const spellings = [
      `${token}=`,
      `${token}\n`,
      ` ${token}`,
      bytes.toString('base64'),
      bytes.toString('hex'),
    ].filter((text) => text !== token);
    expect(spellings.map((text) => verifyToken([key], text))).toEqual(spellings.map(() => undefined));
  });

  test.each(['', 'A', 'AAAA', 'A'.repeat(21), 'A'.repeat(22), '~', 'null'])('%j opens nothing', (text) => {
    expect(verifyToken([key], text)).toBeUndefined();
  });
});
