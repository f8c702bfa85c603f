// Tests that the size of a JPEG is read from its header.
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { parseJpegSize } from './image-source.ts';

const make = (progressive: boolean) =>
  sharp({ create: { width: 321, height: 123, channels: 3, background: 'red' } })
    .jpeg({ progressive })
    .toBuffer();

test.each([false, true])('of a JPEG, progressive: %s', async (progressive) =>
  expect(parseJpegSize(await make(progressive))).toEqual({ width: 321, height: 123 }),
);

test('is unknown where the bytes are none, cut off, or of another format', async () => {
  const jpeg = await make(false);
  for (const bytes of [Buffer.alloc(0), jpeg.subarray(0, 3), jpeg.subarray(0, 30), Buffer.alloc(2000, 0xff)])
    expect(parseJpegSize(bytes)).toBeUndefined();
  expect(parseJpegSize(Buffer.from('GIF89a and more bytes'))).toBeUndefined();
  expect(parseJpegSize(Buffer.concat([jpeg.subarray(0, 2), Buffer.alloc(100)]))).toBeUndefined();
});

/** A JPEG of an empty APP0 segment and a frame header. */
const jpegWith = (marker: number, frame = [0, 11, 8, 0, 123, 1, 65]) =>
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, marker, ...frame]);

test.each([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc9, 0xcd, 0xcf])('is in the frame header %i', (marker) =>
  expect(parseJpegSize(jpegWith(marker))).toEqual({ width: 321, height: 123 }),
);

test.each([0xbf, 0xc4, 0xc8, 0xcc, 0xd0, 0xdb])('is not in the segment %i', (marker) =>
  expect(parseJpegSize(jpegWith(marker))).toBeUndefined(),
);

test('is unknown where the frame header is cut off', () => {
  expect(parseJpegSize(jpegWith(0xc0, [0, 11, 8, 0, 123, 1]))).toBeUndefined();
  expect(parseJpegSize(jpegWith(0xc0).subarray(2))).toBeUndefined();
});
