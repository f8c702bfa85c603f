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
