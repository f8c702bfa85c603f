// Images for tests that no library writes: decompression bombs, animations, and images with private metadata.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { ffmpegPath } from './clips.ts';

const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');

/**
 * A valid PNG of one colour: a bit for each pixel, which packs to almost nothing. `chunks` lie before the
 * pixels.
 */
export function bombPng(width: number, height: number, chunks: readonly Buffer[] = []): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  const pixels = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height));
  return Buffer.concat([
    PNG_HEAD,
    chunk('IHDR', head),
    ...chunks,
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A chunk of a PNG, with its length and checksum. */
export function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([u32(data.length), content, u32(crc32(content))]);
}

/** Compressed zeros that a reader may unpack: text, or a colour profile. */
export const zerosChunk = (type: 'zTXt' | 'iCCP', bytes: number): Buffer =>
  chunk(type, Buffer.concat([Buffer.from('x\0\0'), deflateSync(Buffer.alloc(bytes))]));

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

type Frames = { readonly width: number; readonly height: number; readonly frames: number };

/**
 * A GIF whose frames cost a few bytes each: the first fills the screen's size, none has more than one pixel
 * in it.
 */
export function bombGif({ width, height, frames }: Frames): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  const frame = Buffer.concat([
    Buffer.from('21f90400050000002c00000000', 'hex'),
    size,
    Buffer.from('00020244010000', 'hex').subarray(0, 6),
  ]);
  return Buffer.concat([
    Buffer.from('GIF89a'),
    size,
    Buffer.from('800000000000ffffff', 'hex'),
    ...Array.from({ length: frames }, () => frame),
    Buffer.from(';'),
  ]);
}

/** Frames of one colour each, all different. */
export async function movie({
  width,
  height,
  frames,
  format,
}: Frames & { readonly format: 'gif' | 'webp' }): Promise<Buffer> {
  const colours = Array.from({ length: frames }, (_, n) => ({
    r: (n * 50) % 256,
    g: 255 - ((n * 30) % 256),
    b: (n * 90) % 256,
  }));
  const pictures = await Promise.all(
    colours.map((background) =>
      sharp({ create: { width, height, channels: 3, background } })
        .png()
        .toBuffer(),
    ),
  );
  return sharp(pictures, { join: { animated: true } })
    .toFormat(format, { delay: pictures.map(() => 100), loop: 0 })
    .toBuffer();
}

/** Three frames, in a format whose first frame alone sharp reads. */
export async function strangeMovie(format: 'png' | 'avif'): Promise<Buffer> {
  const coded = { png: ['-f', 'apng'], avif: ['-c:v', 'libaom-av1', '-cpu-used', '8', '-f', 'avif'] }[format];
  const path = join(await mkdtemp(join(tmpdir(), 'mediary-movie-')), 'movie');
  const picture = ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc=size=64x48:rate=5', '-frames:v', '3'];
  await promisify(execFile)(ffmpegPath(), [...picture, ...coded, path]);
  return readFile(path);
}

/** What a phone writes beside the picture. */
export const SECRETS_OF_A_PHOTO = ['Canary Camera 9000', 'Ann Canary', '51/1 30/1 0/1'] as const;

/**
 * A JPEG with camera, name, place and orientation in its EXIF, and a colour profile. Its left half is red
 * when it is shown.
 */
export async function phonePhoto({
  width,
  height,
  orientation,
}: {
  width: number;
  height: number;
  orientation: number;
}): Promise<Buffer> {
  const half = await sharp({ create: { width: width / 2, height, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const shown = await sharp({ create: { width, height, channels: 3, background: 'blue' } })
    .composite([{ input: half, left: 0, top: 0 }])
    .png()
    .toBuffer();
  const [camera, artist, latitude] = SECRETS_OF_A_PHOTO;
  return sharp(shown)
    .rotate(TURNS[orientation] ?? 0)
    .keepIccProfile()
    .withIccProfile('p3')
    .withExif({
      IFD0: { Model: camera, Artist: artist },
      IFD2: { DateTimeOriginal: '2026:07:01 12:30:00', OffsetTimeOriginal: '+02:00' },
      IFD3: {
        ...{ GPSLatitudeRef: 'N', GPSLatitude: latitude },
        ...{ GPSLongitudeRef: 'W', GPSLongitude: '0/1 7/1 3000/100' },
      },
    })
    .withMetadata({ orientation })
    .jpeg({ quality: 95 })
    .toBuffer();
}

/** How a picture lies in its file for an orientation of EXIF: the opposite of how it is shown. */
const TURNS: Readonly<Record<number, number>> = { 1: 0, 3: 180, 6: 270, 8: 90 };
