// Tests the estimate of the disk space that an encode needs.
import { expect, test } from 'vitest';
import { DEFAULT_LADDER } from './ladder.ts';
import { estimateScratchBytes } from './scratch-need.ts';

const MIB = 1024 ** 2;
const GIB = 1024 * MIB;
const HOUR: Parameters<typeof estimateScratchBytes>[0] = {
  size_bytes: 4 * GIB,
  width: 1920,
  height: 1080,
  duration_ms: 3_600_000,
  warnings: [],
};
const inPlace = { isCopied: false, ladder: DEFAULT_LADDER };

test('renditions take their maximum bit rates, whatever the size of a large source is', () => {
  const bytes = estimateScratchBytes(HOUR, inPlace);
  expect(bytes).toBeGreaterThan(4 * GIB);
  expect(bytes).toBeLessThan(4.6 * GIB);
  expect(estimateScratchBytes({ ...HOUR, size_bytes: 400 * GIB }, inPlace)).toBe(bytes);
});

test('a copy of the original comes on top', () => {
  expect(
    estimateScratchBytes(HOUR, { ...inPlace, isCopied: true }) - estimateScratchBytes(HOUR, inPlace),
  ).toBe(4 * GIB);
});

test('a source with a low bit rate needs a multiple of its size', () => {
  const small = { ...HOUR, size_bytes: 10 * MIB };
  expect(estimateScratchBytes(small, inPlace)).toBe(34 * MIB);
});

test('a small picture needs less than a large one', () => {
  const small = { ...HOUR, width: 640, height: 360 };
  expect(estimateScratchBytes(small, inPlace)).toBeLessThan(GIB / 2);
});

test('without facts the size of the source alone counts', () => {
  const unknown = { size_bytes: 10 * MIB, width: null, height: null, duration_ms: null, warnings: [] };
  expect(estimateScratchBytes(unknown, { ...inPlace, isCopied: true })).toBe(44 * MIB);
});

test('further codecs need space too', () => {
  const ladder = { ...DEFAULT_LADDER, extraCodecs: ['av1'] as const };
  const unknown = { ...HOUR, size_bytes: 10 * MIB, duration_ms: null };
  expect(estimateScratchBytes(unknown, { isCopied: false, ladder })).toBe(64 * MIB);
  expect(estimateScratchBytes(HOUR, { isCopied: false, ladder })).toBeGreaterThan(
    1.5 * estimateScratchBytes(HOUR, inPlace),
  );
});

test('HDR needs space only for a source in HDR', () => {
  const ladder = { ...DEFAULT_LADDER, hdrCodecs: ['hevc'] as const };
  const hdr = { ...HOUR, warnings: [{ code: 'hdr' }] };
  const bytesOf = (source: typeof HOUR) => estimateScratchBytes(source, { isCopied: false, ladder });
  expect(bytesOf(HOUR)).toBe(estimateScratchBytes(HOUR, inPlace));
  expect(bytesOf(hdr)).toBeGreaterThan(1.7 * bytesOf(HOUR));
  expect(bytesOf({ ...hdr, size_bytes: 10 * MIB })).toBe(64 * MIB);
});
