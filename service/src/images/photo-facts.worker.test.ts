// What a camera wrote into a photo is read from real files, and a damaged description spoils nothing.
import fc from 'fast-check';
import sharp, { type Exif } from 'sharp';
import { describe, expect, test } from 'vitest';
import { findExif, readPhotoFacts } from './photo-facts.worker.ts';

async function exifOf(exif: Exif, format: 'jpeg' | 'png' | 'webp' | 'avif' = 'jpeg'): Promise<Buffer> {
  const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } });
  const { exif: written } = await sharp(await picture.withExif(exif)[format]().toBuffer()).metadata();
  return written ?? Buffer.alloc(0);
}

const PHOTO = {
  IFD0: { Make: 'Apple', Model: 'iPhone 15' },
  IFD2: { DateTimeOriginal: '2026:07:01 12:30:00', OffsetTimeOriginal: '+02:00' },
  IFD3: {
    GPSLatitudeRef: 'S',
    GPSLatitude: '33/1 51/1 2520/100',
    GPSLongitudeRef: 'E',
    GPSLongitude: '151/1 12/1 5040/100',
    GPSAltitude: '125/10',
  },
};
const factsOf = async (exif: Exif) => readPhotoFacts(await exifOf(exif));

test.each(['jpeg', 'png', 'webp', 'avif'] as const)('a photo in %s', async (format) => {
  expect(readPhotoFacts(await exifOf(PHOTO, format))).toEqual({
    camera: 'Apple iPhone 15',
    taken_at: '2026-07-01T12:30:00+02:00',
    orientation: 1,
    location: { latitude: -33.857, longitude: 151.214, altitude_m: 12.5 },
  });
});

test('a photo in HEIC, whose description is behind its other boxes', async () => {
  const heic = Buffer.concat([Buffer.alloc(100), await exifOf(PHOTO), Buffer.alloc(50)]);
  expect(readPhotoFacts(findExif(heic))?.camera).toBe('Apple iPhone 15');
  expect(findExif(Buffer.alloc(100))).toBeUndefined();
});

describe('camera', () => {
  test.each([
    [{ Make: 'Canon', Model: 'Canon EOS R5' }, 'Canon EOS R5'],
    [{ Make: 'NIKON CORPORATION', Model: 'NIKON D90' }, 'NIKON D90'],
    [{ Model: 'Pixel 9' }, 'Pixel 9'],
    [{ Make: 'Leica' }, 'Leica'],
    [{ Make: '   ' }, null],
  ])('%j is %j', async (IFD0, camera) => {
    expect((await factsOf({ IFD0, IFD2: { DateTimeOriginal: '2026:07:01 12:30:00' } }))?.camera).toBe(camera);
  });
});

describe('time', () => {
  test.each([
    ['2026:07:01 12:30:00', undefined, '2026-07-01T12:30:00'],
    ['2026:07:01 12:30:00', 'Z', '2026-07-01T12:30:00'],
    ['2026:02:30 12:30:00', '+01:00', null],
    ['0000:00:00 00:00:00', undefined, null],
    ['yesterday', undefined, null],
  ])('%j with the zone %j is %j', async (DateTimeOriginal, OffsetTimeOriginal, time) => {
    const zone = OffsetTimeOriginal === undefined ? {} : { OffsetTimeOriginal };
    const facts = await factsOf({ IFD0: { Model: 'Pixel' }, IFD2: { DateTimeOriginal, ...zone } });
    expect(facts?.taken_at).toBe(time);
  });
});

test('below the sea the altitude is negative', async () => {
  const exif = await exifOf({ IFD3: { ...PHOTO.IFD3, GPSAltitudeRef: '0' } });
  // The entry of the tag 5: one byte, which sharp always writes as 0.
  exif[exif.indexOf(Buffer.from([5, 0, 1, 0, 1, 0, 0, 0])) + 8] = 1;
  expect(readPhotoFacts(exif)?.location?.altitude_m).toBe(-12.5);
});

test('a place that is not on Earth, or has no longitude, is none', async () => {
  for (const IFD3 of [
    { ...PHOTO.IFD3, GPSLatitude: '91/1 0/1 0/1' },
    { ...PHOTO.IFD3, GPSLongitude: '1/0 0/1 0/1' },
    { GPSLatitudeRef: 'N', GPSLatitude: '1/1 0/1 0/1' },
  ])
    expect((await factsOf({ ...PHOTO, IFD3 }))?.location).toBeNull();
});

test('no bytes, other bytes and a description without these facts are null', async () => {
  expect(readPhotoFacts(undefined)).toBeNull();
  for (const bytes of [Buffer.alloc(0), Buffer.from('Exif\0\0'), Buffer.from('no description at all')])
    expect(readPhotoFacts(bytes)).toBeNull();
});

test('damaged bytes give facts or null, never an error, and texts stay short', async () => {
  const exif = await exifOf(PHOTO);
  const damage = fc.array(fc.tuple(fc.nat(exif.length - 1), fc.nat(255)), { maxLength: 20 });
  fc.assert(
    fc.property(damage, fc.nat(exif.length), (changes, length) => {
      const bytes = Buffer.from(exif);
      for (const [at, byte] of changes) bytes[at] = byte;
      const facts = readPhotoFacts(bytes.subarray(0, length));
      expect(facts?.camera?.length ?? 0).toBeLessThanOrEqual(201);
      expect(JSON.stringify(facts)).not.toMatch(/\\u0000|\\ud8/);
    }),
    { numRuns: 2000 },
  );
});
