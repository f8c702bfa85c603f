// Tests the limits of text and metadata (contract B1).
import { describe, expect, test } from 'vitest';
import { isMetadata, MAX_METADATA_BYTES, MAX_METADATA_LEVELS } from './text-limits.ts';

describe('metadata', () => {
  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
  const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

  test('counts in bytes of its JSON, not in characters', () => {
    expect(isMetadata(ofBytes(MAX_METADATA_BYTES))).toBe(true);
    expect(isMetadata(ofBytes(MAX_METADATA_BYTES + 1))).toBe(false);
    expect(isMetadata({ a: 'ä'.repeat(MAX_METADATA_BYTES / 2) })).toBe(false);
  });

  test('may be nested so deep and no deeper', () => {
    expect(isMetadata(nested(MAX_METADATA_LEVELS))).toBe(true);
    expect(isMetadata(nested(MAX_METADATA_LEVELS + 1))).toBe(false);
    expect(isMetadata(JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as object)).toBe(
      false,
    );
  });

  test.each([
    ['a value', { a: ['\0'] }],
    ['a name', { 'a\0': 1 }],
    ['half a character', { a: { b: '\ud800' } }],
    ['half a character in a name', { '\udfff': 1 }],
  ])('may not hide what no column takes: %s', (_what, metadata) => expect(isMetadata(metadata)).toBe(false));

  test('may say the same in words', () => {
    expect(
      isMetadata({ path: 'C:\\udacity', code: '\\u0000', empty: {}, list: [null, true, 1.5, '🎬'] }),
    ).toBe(true);
  });
});
