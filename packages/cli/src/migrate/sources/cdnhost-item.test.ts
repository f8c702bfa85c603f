// Videos of the Bunny Stream API as items.
import { expect, test } from 'vitest';
import { type CdnhostVideo, detectMimeType, findHeights, toCdnhostItem, toFilename } from './cdnhost-item.ts';

const video: CdnhostVideo = {
  guid: 'guid-1',
  title: 'Launch.mov',
  description: 'The first day',
  dateUploaded: '2024-05-06T07:08:09.123',
  collectionId: 'c1',
  status: 4,
  length: 61,
  storageSize: 5_000_000,
  availableResolutions: '240p,720p,360p',
  hasMP4Fallback: true,
  hasOriginal: true,
  originalHash: 'AB'.repeat(32),
  chapters: [{ title: 'Demo', start: 12 }],
  metaTags: [{ property: 'speaker', value: 'Ann' }],
};
const context = { collections: new Map([['c1', 'Talks']]), isPrivate: true };

test('a finished video keeps title, collection, chapters and meta tags', () => {
  expect(toCdnhostItem(video, context)).toMatchObject({
    id: 'guid-1',
    title: 'Launch.mov',
    durationMs: 61_000,
    sizeBytes: 5_000_000,
    fileSizeBytes: null,
    fileSha256: 'ab'.repeat(32),
    visibility: 'private',
    group: 'Talks',
    tags: ['Talks'],
    metadata: { description: 'The first day', meta_tags: { speaker: 'Ann' }, collection_id: 'c1' },
    chapters: [{ start_ms: 12_000, title: 'Demo' }],
    problem: null,
    notes: [],
  });
});

test('without an original the largest MP4 file is moved, which has another SHA-256', () => {
  const copy = { ...video, hasOriginal: false };
  expect(findHeights(copy)).toEqual([720, 360, 240]);
  const item = toCdnhostItem(copy, { ...context, isPrivate: false });
  expect(item).toMatchObject({ fileSha256: null, visibility: 'public', problem: null });
  expect(item.notes).toEqual([expect.stringContaining('no original')]);
});

test('captions need a language', () => {
  const captions = [{ srclang: 'de' }, { srclang: 'auto-generated' }];
  expect(toCdnhostItem({ ...video, captions }, context).notes).toEqual([
    'Captions without a language tag are left out: auto-generated.',
  ]);
});

test.each([
  [{ status: 5 }, /failed at the source/],
  [{ status: 6 }, /failed at the source/],
  [{ status: 3 }, /not ready/],
  [{ hasOriginal: false, hasMP4Fallback: false }, /neither the original nor an MP4/],
  [{ hasOriginal: false, availableResolutions: null }, /neither the original nor an MP4/],
])('a video with %j cannot be moved', (changes, problem) => {
  expect(toCdnhostItem({ ...video, ...changes }, context).problem).toMatch(problem);
});

test.each([
  ['\0\0\0\x18ftypmp42', 'video/mp4'],
  ['\0\0\0\x14ftypqt  ', 'video/quicktime'],
  ['\0\0\0\x08wide', 'video/quicktime'],
  ['\x1aE\xdf\xa3....webm', 'video/webm'],
  ['\x1aE\xdf\xa3....matroska', 'video/x-matroska'],
  ['RIFF\0\0\0\0AVI LIST', 'video/x-msvideo'],
  [`G${'\0'.repeat(187)}G`, 'video/mp2t'],
  ['hello', undefined],
])('the bytes %j are %s', (text, mimeType) => {
  expect(detectMimeType(Buffer.from(text, 'latin1'))).toBe(mimeType);
});

test('the name of a file has the extension of its type', () => {
  expect(toFilename('Launch.mov', 'video/mp4')).toBe('Launch.mp4');
  expect(toFilename('Part 1.5', 'video/webm')).toBe('Part 1.5.webm');
  expect(toFilename('a/b', 'video/mp4')).toBe('a-b.mp4');
  expect(toFilename(null, 'video/quicktime')).toBe('video.mov');
});
