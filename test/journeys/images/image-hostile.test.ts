// Hostile images: each fails with a reason, and the service keeps its memory bounded.
import { statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_DATA } from '../../support/clips/clips.ts';
import { type AssetJson, IMAGE, offer, settled } from '../../support/media.ts';
import { bombGif, bombPng, zerosChunk } from '../../support/clips/pictures.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { isStoreRemote } from '../../support/store/test-store.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MAX_IMAGE_PIXELS: '10000000' });
});
afterAll(() => service.stop());

const MIB = 1024 ** 2;

async function endOf(bytes: Uint8Array, mime: string): Promise<AssetJson> {
  return settled(
    service,
    'ann',
    (await offer(service, 'ann', { bytes, fields: { ...IMAGE, mime_type: mime } })).id,
  );
}

const isWell = async () => {
  const good = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  expect(await endOf(good, 'image/png')).toMatchObject({ stream_status: 'ready' });
};

describe('a decompression bomb', () => {
  test.each<[string, () => Buffer, string]>([
    ['of 900 million pixels', () => bombPng(30_000, 30_000), 'image/png'],
    [
      'of frames that are large together',
      () => bombGif({ width: 1000, height: 1000, frames: 11 }),
      'image/gif',
    ],
  ])(
    '%s fails because of its size',
    async (_, make, mime) => {
      expect(await endOf(make(), mime)).toMatchObject({
        stream_status: 'failed',
        failure: { code: 'picture_too_large', retryable: false },
        playback: null,
      });
    },
    60_000,
  );

  test.each<[string, () => Buffer, string]>([
    ['a text that unpacks to 200 MB', () => bombPng(64, 64, [zerosChunk('zTXt', 200 * MIB)]), 'image/png'],
    ['a profile that unpacks to 200 MB', () => bombPng(64, 64, [zerosChunk('iCCP', 200 * MIB)]), 'image/png'],
    ['30 000 frames', () => bombGif({ width: 1, height: 1, frames: 30_000 }), 'image/gif'],
  ])(
    'of %s becomes ready or failed, and costs the service no memory',
    async (_, make, mime) => {
      const bytes = make();
      const before = process.memoryUsage.rss();
      expect(['ready', 'failed']).toContain((await endOf(bytes, mime)).stream_status);
      expect(process.memoryUsage.rss() - before).toBeLessThan(150 * MIB);
      await isWell();
    },
    60_000,
  );
});

describe.runIf(TEST_DATA)('collected files', () => {
  const AT_ONCE = 4;
  const TYPES: Readonly<Record<string, string>> = {
    '.jpg': 'image/jpeg',
    '.gif': 'image/gif',
    '.webp': 'image/webp',
    '.avif': 'image/avif',
    '.heif': 'image/heif',
  };
  const HEADS: readonly (readonly [RegExp, string])[] = [
    [/^\xff\xd8/, 'image/jpeg'],
    [/^GIF8/, 'image/gif'],
    [/^RIFF.{4}WEBP/s, 'image/webp'],
    [/^.{4}ftypavi/s, 'image/avif'],
    [/^.{4}ftyp/s, 'image/heif'],
  ];

  const typeOf = (name: string, bytes: Buffer) =>
    HEADS.find(([form]) => form.test(bytes.toString('latin1', 0, 16)))?.[1] ??
    TYPES[extname(name).toLowerCase()] ??
    'image/png';

  const SETS = [
    ['image-broken', 38],
    ['image-fuzz-small', 477],
    ['exif-orientation', 9],
    ['image-valid', 76],
    ['file-type-fixtures', 33],
    ['tiny-files', 26],
  ] as const;

  // Decoders read a local copy, so that every set fails or succeeds alike with each store.
  test.each(SETS.filter(([set]) => !isStoreRemote || set === 'image-broken'))(
    'of %s all become ready or failed',
    async (set, count) => {
      const entries = await readdir(join(TEST_DATA ?? '', set), { recursive: true, withFileTypes: true });
      const paths = entries
        .filter((entry) => entry.isFile() && !/^(?:MANIFEST|LICENSE)/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => statSync(path).size > 0);
      const ends: Record<string, number> = {};
      const waiting = paths.values();
      const lane = async () => {
        for (const path of waiting) {
          const bytes = await readFile(path);
          const { stream_status: status, failure } = await endOf(bytes, typeOf(path, bytes));
          expect(status === 'ready' ? failure : failure?.code, path).toEqual(
            status === 'ready' ? null : expect.any(String),
          );
          const end = failure?.code ?? status;
          ends[end] = (ends[end] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      expect(Object.values(ends).reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(count - 2);
      expect(ends).not.toHaveProperty('too_demanding');
      if (process.env['MEDIARY_SHOW_ENDS'])
        process.stderr.write(
          `${set}: ${JSON.stringify(ends)}, ${Math.round(process.memoryUsage.rss() / MIB)} MiB\n`,
        );
      await isWell();
    },
    240_000,
  );
});
