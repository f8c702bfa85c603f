// Tests that ICC profiles are read from HEIF files and written to PNG.
import fc from 'fast-check';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { findIccProfile, withIccProfile } from './heif.worker.ts';

const blank = () => sharp({ create: { width: 8, height: 8, channels: 3, background: '#40c040' } }).png();
const displayP3 = async (): Promise<Buffer> =>
  (await sharp(await blank().withIccProfile('p3').toBuffer()).metadata()).icc as Buffer;

function colourBox(profile: Uint8Array, length = profile.length + 12): Buffer {
  const box = Buffer.concat([Buffer.alloc(4), Buffer.from('colrprof'), profile]);
  box.writeUInt32BE(length);
  return box;
}

test('a profile is found where it lies, and a PNG that is given it has it', async () => {
  const profile = await displayP3();
  const found = findIccProfile(Buffer.concat([Buffer.alloc(100), colourBox(profile), Buffer.alloc(50)]));
  expect(found).toEqual(profile);
  const { icc, width } = await sharp(withIccProfile(await blank().toBuffer(), profile)).metadata();
  expect([icc, width]).toEqual([profile, 8]);
});

test('colours in a PNG with a profile come out as sRGB', async () => {
  const given = withIccProfile(await blank().toBuffer(), await displayP3());
  const [red = 0, green = 0] = await sharp(given).raw().toBuffer();
  expect(red).toBeLessThan(0x38);
  expect(green).toBeGreaterThan(0xc0);
});

test('a truncated, oversized or missing profile gives undefined', async () => {
  const profile = await displayP3();
  for (const box of [
    colourBox(profile).subarray(0, 300),
    colourBox(profile, 5),
    colourBox(profile, 0xffffffff),
    colourBox(profile, profile.length + 11),
    colourBox(Buffer.alloc(400)),
  ]) {
    expect(findIccProfile(Buffer.concat([box, Buffer.alloc(20)]))).toBeUndefined();
  }
});

test('no bytes at all break the search', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.uint8Array({ maxLength: 64 }), (before, after) => {
      expect(findIccProfile(Buffer.concat([before, Buffer.from('colrprof'), after]))).toBeUndefined();
    }),
  );
});
