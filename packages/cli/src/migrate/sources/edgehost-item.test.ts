// Videos of the Cloudflare Stream API as items.
import { expect, test } from 'vitest';
import { type EdgehostVideo, toEdgehostFilename, toEdgehostItem } from './edgehost-item.ts';

const video: EdgehostVideo = {
  uid: '0123456789abcdef0123456789abcdef',
  creator: 'user-7',
  created: '2024-05-06T07:08:09.123456Z',
  status: { state: 'ready' },
  meta: { name: 'Holiday.mov', filename: 'Holiday.mov', filetype: 'video/quicktime', album: 7 },
  duration: 61.4,
  size: 5_000_000,
  requireSignedURLs: false,
  allowedOrigins: [],
  scheduledDeletion: '2030-01-01T00:00:00Z',
};

test('a ready video keeps name, creator, own metadata and the time of its deletion', () => {
  expect(toEdgehostItem(video)).toMatchObject({
    id: video.uid,
    title: 'Holiday.mov',
    group: 'user-7',
    durationMs: 61_400,
    sizeBytes: 5_000_000,
    fileSizeBytes: null,
    visibility: 'public',
    metadata: { album: 7, creator: 'user-7' },
    sites: [],
    expiresAt: '2030-01-01T00:00:00Z',
    problem: null,
    notes: [],
  });
});

test.each([
  [
    ['www.example.com', '*.Example.org', 'localhost:3000'],
    ['www.example.com', '*.example.org', 'localhost:3000'],
  ],
  [['https://app.example.com/'], ['app.example.com']],
  [['*'], []],
])('allowed origins %j become sites', (allowedOrigins, sites) => {
  expect(toEdgehostItem({ ...video, allowedOrigins })).toMatchObject({
    sites,
    visibility: 'public',
    notes: [],
  });
});

test('a video is private if it needs signed URLs, or if none of its origins is a site', () => {
  expect(toEdgehostItem({ ...video, requireSignedURLs: true }).visibility).toBe('private');
  const item = toEdgehostItem({ ...video, allowedOrigins: ['exa mple'] });
  expect(item).toMatchObject({ visibility: 'private', sites: [] });
  expect(item.notes).toEqual([expect.stringContaining('exa mple')]);
});

test.each([
  [{ state: 'error', errorReasonText: 'No video.' }, 'The video failed at the source: No video.'],
  [{ state: 'inprogress' }, 'The video is not ready at the source: inprogress.'],
  [{ state: 'live-inprogress' }, 'The video is a live stream that has not ended.'],
  [undefined, 'The video is not ready at the source: unknown.'],
])('a video of the status %j cannot be moved', (status, problem) => {
  expect(toEdgehostItem({ ...video, status } as EdgehostVideo).problem).toBe(problem);
});

test('the file is an MP4', () => {
  expect(toEdgehostFilename(video)).toBe('Holiday.mp4');
  expect(toEdgehostFilename({ ...video, meta: {} })).toBe('video.mp4');
});
