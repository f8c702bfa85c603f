// Tests which upload method of edgehost is chosen, its expiry and its metadata.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  buildTusHeaders,
  buildFormBody,
  CHUNKS,
  isFormUpload,
  toDownloadName,
  toMaxBytes,
  toReservedSeconds,
  toUploadExpiry,
} from './edgehost-upload.ts';

const GIB = 1024 ** 3;
const NOW = 1_700_000_000;

test.each([
  [1, true],
  [200_000_000, true],
  [200_000_001, false],
  [5 * GIB, false],
  [null, true],
])('a file of %j bytes goes by form: %j', (size, form) => {
  expect(isFormUpload({ size })).toBe(form);
});

test.each([
  [1000, 10 * GIB, 1000],
  [300_000_000, 10 * GIB, 300_000_000],
  [null, 10 * GIB, 200_000_000],
  [null, 5000, 5000],
])('of %j bytes, %d allowed, it takes %d', (size, maxBytes, most) => {
  expect(toMaxBytes({ size, maxBytes })).toBe(most);
});

test('the announced duration is reserved, else the default, and never more than the product takes', () => {
  const reserved = (maxDurationSeconds: number | null) => toReservedSeconds({ maxDurationSeconds }, 3600);
  expect([null, 611, 36_365].map(reserved)).toEqual([3600, 611, 36_000]);
});

test('the recommended chunk keeps the rules of the product', () => {
  const { chunk_size_bytes, chunk_size_multiple_bytes, chunk_size_min_bytes, chunk_size_max_bytes } = CHUNKS;
  for (const size of [chunk_size_bytes, chunk_size_min_bytes, chunk_size_max_bytes])
    expect(size % chunk_size_multiple_bytes).toBe(0);
  expect(chunk_size_bytes).toBeGreaterThanOrEqual(chunk_size_min_bytes);
  expect(chunk_size_bytes).toBeLessThanOrEqual(chunk_size_max_bytes);
});

test('the upload URL expires as requested, within the limits of the product', () => {
  const secondsOf = (seconds: number) =>
    Date.parse(toUploadExpiry({ expires: NOW + seconds }, NOW + 0.5)) / 1000 - NOW;
  expect([3600, 86_400, 0, -5].map(secondsOf)).toEqual([3600, 21_540, 150, 150]);
});

test('the metadata of a tus upload is single-line Base64 for any file name', () => {
  const wanted = {
    assetId: 'a',
    mimeType: 'video/mp4',
    size: 300_000_000,
    expiry: 'soon',
    reservedSeconds: 60,
    requireSignedUrls: false,
  };
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (filename) => {
      const metadata = buildTusHeaders({ ...wanted, filename })['Upload-Metadata'] ?? '';
      const others = ['filetype', 'maxDurationSeconds', 'expiry', 'mediary_asset_id'];
      const rest = others.map((name) => `,${name} [\\w+/=]+`).join('');
      expect(metadata).toMatch(new RegExp(`^name [\\w+/=]*${rest}$`));
      expect(Buffer.from(/^name ([^,]*)/.exec(metadata)?.[1] ?? '', 'base64').toString()).toBe(
        filename.toWellFormed(),
      );
    }),
  );
});

const WANTED = {
  assetId: 'a',
  filename: 'clip.mp4',
  mimeType: 'video/mp4',
  size: 300_000_000,
  expiry: '2026-01-01T00:00:00.000Z',
  reservedSeconds: 611,
};

test.each([true, false])(
  'a form upload names the asset and its limits; signed URLs: %s',
  (requireSignedUrls) => {
    expect(buildFormBody({ ...WANTED, requireSignedUrls })).toEqual({
      maxDurationSeconds: 611,
      expiry: WANTED.expiry,
      creator: 'mediary',
      meta: { name: 'clip.mp4', mediary_asset_id: 'a' },
      requireSignedURLs: requireSignedUrls,
    });
  },
);

test('a tus upload announces its size, and requires signed URLs only when requested', () => {
  const headers = buildTusHeaders({ ...WANTED, requireSignedUrls: true });
  expect(headers).toMatchObject({
    'Tus-Resumable': '1.0.0',
    'Upload-Length': '300000000',
    'Upload-Creator': 'mediary',
  });
  expect(headers['Upload-Metadata']?.split(',').at(-1)).toBe('requiresignedurls');
  const plain = buildTusHeaders({ ...WANTED, requireSignedUrls: false })['Upload-Metadata'] ?? '';
  const pairs = plain.split(',').map((pair) => pair.split(' '));
  expect(
    Object.fromEntries(pairs.map(([name, value = '']) => [name, Buffer.from(value, 'base64').toString()])),
  ).toEqual({
    name: 'clip.mp4',
    filetype: 'video/mp4',
    maxDurationSeconds: '611',
    expiry: WANTED.expiry,
    mediary_asset_id: 'a',
  });
});

test('a download has a name that the product takes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (filename) => {
      expect(toDownloadName(filename)).toMatch(/^[A-Za-z0-9_-]{0,120}$/);
    }),
  );
  const names = [
    'clip.mp4',
    'Résumé vidéo.mov',
    '日本.mp4',
    '.mp4',
    `${'x'.repeat(200)}.mp4`,
    'a.b.c',
    'no extension',
    '__a , b__.mp4',
  ];
  expect(names.map(toDownloadName)).toEqual([
    'clip',
    'Resume_video',
    '',
    '',
    'x'.repeat(120),
    'a_b',
    'no_extension',
    'a_b',
  ]);
});
