// Tests where caption data lies in the units of a stream, also of a damaged one.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { tripletBytes, userData } from '../../../../test/support/clips/caption-bytes.ts';
import { CAPTION_CODECS, findTriplets } from './caption-data.ts';

const START = [0, 0, 0, 1];
const MESSAGE = [0xb5, 0x00, 0x31, ...userData([[0, 0x94, 0x2c]])];
const TRIPLETS = tripletBytes([
  [0, 0x94, 0x2c],
  [1, 0x80, 0x80],
]);

/** An SEI message in which no start code can occur. */
const sei = (type: number, payload: readonly number[], header = [0x06]): Uint8Array =>
  Uint8Array.from([...START, ...header, type, payload.length, ...payload, 0x80]);

describe('caption data is found', () => {
  test('in SEI messages of H.264 and HEVC, among others', () => {
    const other = sei(5, [1, 2, 3]);
    expect(findTriplets('h264', Uint8Array.from([...other, ...sei(4, MESSAGE)]))).toEqual([TRIPLETS]);
    expect(findTriplets('hevc', sei(4, MESSAGE, [0x4e, 0x01]))).toEqual([TRIPLETS]);
    const both = Uint8Array.from([...START, 0x06, 5, 2, 7, 7, 4, MESSAGE.length, ...MESSAGE, 0x80]);
    expect(findTriplets('h264', both)).toEqual([TRIPLETS]);
  });

  test('behind a long message, and where bytes had to be escaped', () => {
    const long = [5, 255, 10, ...Array.from({ length: 265 }, () => 9)];
    const escaped = [5, 3, 0, 0, 3, 1];
    for (const before of [long, escaped]) {
      const unit = [...START, 0x06, ...before, 4, MESSAGE.length, ...MESSAGE, 0x80];
      expect(findTriplets('h264', Uint8Array.from(unit))).toEqual([TRIPLETS]);
    }
  });

  test('in user data of MPEG-2, and in QuickTime as it is', () => {
    const units = Uint8Array.from([
      0,
      0,
      1,
      0xb2,
      ...Buffer.from('other'),
      0,
      0,
      1,
      0xb2,
      ...userData([[0, 0x94, 0x2c]]),
    ]);
    expect(findTriplets('mpeg2video', units)).toEqual([TRIPLETS]);
    expect(findTriplets('eia_608', Uint8Array.from([...TRIPLETS, 1]))).toEqual([TRIPLETS]);
  });
});

test.each([
  ['another unit', sei(4, MESSAGE, [0x67])],
  ['another country', sei(4, [0xb4, ...MESSAGE.slice(1)])],
  ['another type of data', sei(4, MESSAGE.with(7, 0x06))],
  ['no caption data by its flag', sei(4, MESSAGE.with(8, 0x02))],
  ['no start code', Uint8Array.from(MESSAGE)],
])('%s has none', (_what, packet) => {
  expect(findTriplets('h264', packet)).toEqual([]);
});

test('truncated and random bytes give no more than they have', () => {
  const whole = sei(4, MESSAGE);
  for (let length = 0; length < whole.length; length += 1)
    for (const triplets of findTriplets('h264', whole.subarray(0, length)))
      expect(triplets.length % 3).toBe(0);
  const bytes = fc.array(fc.oneof(fc.constantFrom(0, 1, 3, 4, 6, 255, 0xb2), fc.nat(255)), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(fc.constantFrom(...CAPTION_CODECS), bytes, fc.boolean(), (codec, random, isMessage) => {
      const packet = isMessage ? [...whole, ...random] : random;
      const found = findTriplets(codec, Uint8Array.from(packet));
      expect(found.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(packet.length);
    }),
  );
});
