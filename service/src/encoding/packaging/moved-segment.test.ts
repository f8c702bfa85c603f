// Tests that a segment is moved in time and number, and keeps everything else.
import { describe, expect, test } from 'vitest';
import { moveSegment } from './moved-segment.ts';
import { readSegmentTimes } from '../model/mp4-boxes.ts';

const box = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
};
const u32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
  return bytes;
};
const WIDE = 0x01_00_00_00;

/** A segment of 400 ticks in the layout that ffmpeg writes. */
function segment({ isWide, number, start }: { isWide: boolean; number: number; start: number }): Buffer {
  const time = isWide ? u32(0, start) : u32(start);
  const version = isWide ? WIDE : 0;
  const padding = isWide ? u32(0, 0) : u32(0);
  return Buffer.concat([
    box('styp', u32(0)),
    box('sidx', u32(version, 1, 15_360), time, padding, u32(1), u32(99, 400, 0)),
    box(
      'moof',
      box('mfhd', u32(0, number)),
      box('traf', box('tfhd', u32(0, 1)), box('tfdt', u32(version), time)),
    ),
    box('mdat', u32(0xcafe)),
  ]);
}

describe.each([true, false])('a segment with times of 64 bits: %s', (isWide) => {
  test('is the one that a whole run would write', () => {
    const moved = segment({ isWide, number: 2, start: 400 });
    moveSegment(moved, { ticks: 61_440, segments: 15 });
    expect(moved).toEqual(segment({ isWide, number: 17, start: 61_840 }));
    expect(readSegmentTimes(moved)).toEqual({ start: 61_840, duration: 400 });
  });
});

test('a time that does not fit is an error', () => {
  const moved = segment({ isWide: false, number: 1, start: 400 });
  expect(() => moveSegment(moved, { ticks: 2 ** 32 - 1, segments: 0 })).toThrow('exceeds 32 bits');
});
