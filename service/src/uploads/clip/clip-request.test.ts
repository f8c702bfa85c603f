// Tests which part of a video a clip may take, its name, and the space that it needs.
import { describe, expect, test } from 'vitest';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { estimateClipBytes, toClipSource, toClipUpload } from './clip-request.ts';

const video = createVideo({
  stream_status: 'ready',
  uploaded_at: NOW,
  duration_ms: 10_000,
  size_bytes: 1000,
});
const part = (start_ms: number, end_ms: number) => ({ start_ms, end_ms });

describe('the part', () => {
  test.each([
    [0, 500],
    [9500, 10_000],
    [0, 10_000],
  ])('may be %i to %i of 10000 ms', (start, end) => {
    expect(toClipSource(video, part(start, end), false)).toEqual({ id: video.id, ...part(start, end) });
  });

  test.each([
    [0, 10_001, 10_000],
    [9501, 10_000, 10_001],
    [0, 499, 500],
    [5000, 5000, 5500],
    [6000, 5000, 6500],
  ])('may not be %i to %i: the limit of end_ms is %i', (start, end, limit) => {
    expect(() => toClipSource(video, part(start, end), false)).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        details: expect.objectContaining({ field: 'end_ms', limit }),
      }),
    );
  });
});

test.each([
  ['not_video', { ...video, kind: 'image' }, false],
  ['not_stored_here', video, true],
  ['not_uploaded', { ...video, stream_status: 'pending_upload' }, false],
  ['not_uploaded', { ...video, uploaded_at: null }, false],
  ['wrong_status', { ...video, stream_status: 'failed' }, false],
  ['duration_unknown', { ...video, duration_ms: null }, false],
] as const)('a source is refused: %s', (reason, source, isHosted) => {
  expect(() => toClipSource(source, part(0, 1000), isHosted)).toThrow(
    expect.objectContaining({ code: 'CONFLICT', details: expect.objectContaining({ reason }) }),
  );
});

test.each([
  ['launch.mov', 'launch-clip.mp4'],
  ['no extension', 'no extension-clip.mp4'],
  ['a.b.webm', 'a.b-clip.mp4'],
  ['é'.repeat(255), `${'é'.repeat(246)}-clip.mp4`],
])('the clip of %s is named after it', (filename, name) => {
  expect(toClipUpload({ ...video, filename }, part(0, 500)).filename).toBe(name);
});

test('a clip keeps the access rules of the video, unless the request has others', () => {
  const access = { referrers: ['www.example.com'] };
  const restricted = { ...video, access };
  expect(toClipUpload(restricted, part(0, 500)).access).toEqual(access);
  expect(toClipUpload(restricted, { ...part(0, 500), access: null }).access).toBeNull();
});

test('the members of the request win over those of the video', () => {
  expect(toClipUpload(video, { ...part(0, 500), filename: 'mine.mp4', title: 'T' })).toEqual({
    filename: 'mine.mp4',
    title: 'T',
    provider: 'onprem',
    mime_type: 'video/mp4',
    content_type: 'video/mp4',
  });
});

test('the chapters of the part go with it, unless the request names others', () => {
  const chapters = [
    { start_ms: 0, title: 'Intro' },
    { start_ms: 3000, title: 'Demo' },
  ];
  const cut = toClipUpload({ ...video, chapters }, part(2500, 8000));
  expect(cut.chapters).toEqual([
    { start_ms: 0, title: 'Intro' },
    { start_ms: 500, title: 'Demo' },
  ]);
  expect(toClipUpload({ ...video, chapters }, { ...part(2500, 8000), chapters: null }).chapters).toBeNull();
});

test('the estimated space grows with the part, and with a copy of the source', () => {
  const source = { size_bytes: 100_000_000, duration_ms: 10_000 };
  const bytes = (end: number, isCopied = false) =>
    estimateClipBytes(source, { id: video.id, ...part(0, end) }, { isCopied });
  expect(bytes(2000) - bytes(1000)).toBeCloseTo(bytes(3000) - bytes(2000), -2);
  expect(bytes(2000)).toBeGreaterThan(bytes(1000));
  expect(bytes(1000, true) - bytes(1000)).toBe(source.size_bytes);
});
