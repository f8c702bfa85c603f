// The parts of an upload cover the file exactly, within the limits of S3 (contract B4).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assertAllParts, partBytesFor, partLength } from './multipart-plan.ts';

const MIB = 1024 ** 2;

test('parts have 8 MiB, or as much as 10,000 parts need', () => {
  expect(partBytesFor(1)).toBe(8 * MIB);
  expect(partBytesFor(80_000 * MIB)).toBe(8 * MIB);
  expect(partBytesFor(80_000 * MIB + 1)).toBe(9 * MIB);
});

test('the parts of a file of any size add up to it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (sizeBytes) => {
      const plan = { sizeBytes, maxBytes: sizeBytes, partBytes: partBytesFor(sizeBytes) };
      const count = Math.ceil(sizeBytes / plan.partBytes);
      const parts = Array.from({ length: count }, (_, index) => ({
        partNumber: index + 1,
        sizeBytes: partLength(plan, index + 1, undefined),
      }));
      expect(count).toBeLessThanOrEqual(10_000);
      expect(assertAllParts(plan, parts)).toBe(sizeBytes);
      expect(() => partLength(plan, count + 1, undefined)).toThrow(`at most ${count} parts`);
    }),
    { numRuns: 30 },
  );
});

describe('a file of unknown size', () => {
  const plan = { sizeBytes: null, maxBytes: 20, partBytes: 8 };
  test.each([
    [1, undefined, 8],
    [1, 3, 3],
    [3, undefined, 4],
  ])('part %d may have %s bytes', (number, length, expected) =>
    expect(partLength(plan, number, length)).toBe(expected),
  );
  test.each([
    [1, 9, 'must have 8 bytes'],
    [3, 5, 'larger than the maximum of 20 bytes'],
    [4, 1, 'at most 3 parts'],
  ])('part %d cannot have %d bytes', (number, length, message) =>
    expect(() => partLength(plan, number, length)).toThrow(message),
  );
  test.each([
    [[], false],
    [[8, 8, 2], true],
    [[8, 2, 8], false],
    [[8, 8, 4], true],
  ])('parts of %j bytes are whole: %s', (sizes, isWhole) => {
    const parts = sizes.map((sizeBytes, index) => ({ partNumber: index + 1, sizeBytes }));
    if (isWhole) expect(assertAllParts(plan, parts)).toBe(sizes.reduce((sum, size) => sum + size, 0));
    else expect(() => assertAllParts(plan, parts)).toThrow('Not all parts');
  });
});

test('missing parts are named', () => {
  const plan = { sizeBytes: 20, maxBytes: 20, partBytes: 8 };
  const parts = [
    { partNumber: 1, sizeBytes: 8 },
    { partNumber: 3, sizeBytes: 3 },
  ];
  expect(() => assertAllParts(plan, parts)).toThrow(
    expect.objectContaining({ details: { reason: 'missing_parts', missing: [2, 3] } }),
  );
});
