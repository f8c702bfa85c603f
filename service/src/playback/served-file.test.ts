// Tests the files, types and caching of playback paths (contract B5).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import { cacheControlFor, ENTRY_FILES, resolveFile, isEntryFile, contentTypeOf } from './served-file.ts';

type FindHostedUrls = Parameters<typeof resolveFile>[2]['findHostedUrls'];
const findPlainFile = (asset: Asset, path: string, findHostedUrls: FindHostedUrls = () => undefined) =>
  resolveFile(asset, path, { findHostedUrls, segmentEncryption: 'off' });

const own = createVideo({ playback: { kind: 'own', attempt: 2, folder: '2-1' } });
const reported = createVideo({
  playback: {
    kind: 'urls',
    attempt: 1,
    hls: 'https://cdn.test/a.m3u8',
    dash: null,
    thumbnail: 'https://cdn.test/a.jpg',
  },
});
const nothing = createVideo();
const NOT_FOUND = expect.objectContaining({ code: 'NOT_FOUND' });

describe('renditions of our own', () => {
  test('the thumbnail lies in the folder that is published', () => {
    expect(findPlainFile(own, 'thumb.jpg')).toEqual({
      kind: 'stored',
      key: `renditions/${own.id}/2-1/thumb.jpg`,
      isEntry: true,
    });
  });

  test.each(['hls.m3u8', 'dash.mpd'])('%s is a manifest that may change', (name) =>
    expect(findPlainFile(own, name)).toEqual({ kind: 'manifest', name, isEntry: true }),
  );

  test('so is that of players that started early, while a media playlist never changes', () => {
    expect(findPlainFile(own, 'early-2-1.mpd')).toEqual({
      kind: 'manifest',
      name: 'early.mpd',
      isEntry: true,
    });
    expect(findPlainFile(own, '2-1/r0.m3u8')).toEqual({ kind: 'manifest', name: 'r0.m3u8', isEntry: false });
  });

  test('the thumbnail is the picture of the time that was chosen', () => {
    const chosen = createVideo({ playback: { kind: 'own', attempt: 2, folder: '2-1', posterTimeMs: 0 } });
    expect(findPlainFile(chosen, 'thumb.jpg')).toEqual({
      kind: 'stored',
      key: `renditions/${own.id}/2-1/poster-0.jpg`,
      isEntry: true,
    });
    expect(findPlainFile(chosen, 'hls.m3u8')).toEqual(findPlainFile(own, 'hls.m3u8'));
  });

  test.each(['storyboard.vtt', 'preview.webp', 'video.mp4', 'audio.m4a'])('%s lies there too', (file) => {
    expect(findPlainFile(own, file)).toEqual({
      kind: 'stored',
      key: `renditions/${own.id}/2-1/${file}`,
      isEntry: true,
    });
    for (const other of [reported, nothing]) expect(() => findPlainFile(other, file)).toThrow(NOT_FOUND);
  });

  test('manifests name their children below that folder', () => {
    expect(findPlainFile(own, '2-1/v0.mp4')).toEqual({
      kind: 'stored',
      key: `renditions/${own.id}/2-1/v0.mp4`,
      isEntry: false,
    });
  });

  test.each([
    '1-1/v0.mp4',
    '2-2/v0.mp4',
    '2-1',
    '2-1/',
    '/2-1/v0.mp4',
    '2-1/../2-1/v0.mp4',
    '2-1/../../original',
    '2-1/a/b.mp4',
    '2-1/v0.mp4/b',
    '2-1/.hidden',
    '2-1/%2e%2e',
    '2-1\\v0.mp4',
    '2-1/index.json',
    '2-1/early.mpd',
    '2-1/video.mp4',
    '2-1/audio.m4a',
    '2-1/storyboard.vtt',
    'early-1-1.mpd',
    '..',
    '',
    'original',
    'HLS.m3u8',
    'hls.m3u8/',
  ])('%j is none of them', (path) => expect(() => findPlainFile(own, path)).toThrow(NOT_FOUND));
});

describe('a picture', () => {
  const picture = createVideo({
    kind: 'image',
    playback: { kind: 'image', attempt: 1, animated: false, alpha: false },
  });

  test('has its thumbnail among its variants', () => {
    expect(findPlainFile(picture, 'thumb.jpg')).toEqual({
      kind: 'stored',
      key: `variants/${picture.id}/thumb.jpg`,
      isEntry: true,
    });
  });

  test.each(['hls.m3u8', 'dash.mpd', '1-1/v0.mp4', '640x480.webp'])('has no %s', (path) =>
    expect(() => findPlainFile(picture, path)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' })),
  );
});

describe('reported URLs', () => {
  test('are redirected', () => {
    expect(findPlainFile(reported, 'hls.m3u8')).toEqual({
      kind: 'elsewhere',
      location: 'https://cdn.test/a.m3u8',
    });
    expect(findPlainFile(reported, 'thumb.jpg')).toEqual({
      kind: 'elsewhere',
      location: 'https://cdn.test/a.jpg',
    });
  });

  test.each(['dash.mpd', '1-1/v0.mp4'])('%s is not found without a URL', (path) =>
    expect(() => findPlainFile(reported, path)).toThrow(NOT_FOUND),
  );
});

describe('a hosted video', () => {
  const hosted = createVideo({ provider: 'cdnhost', playback: { kind: 'hosted', attempt: 1, videoId: 'v' } });
  const urls = { hls: 'https://cdn.test/v.m3u8', dash: null, thumbnail: null };

  test('is at the URLs of its provider', () => {
    expect(findPlainFile(hosted, 'hls.m3u8', () => urls)).toEqual({ kind: 'elsewhere', location: urls.hls });
  });

  test.each(['dash.mpd', '1-1/v0.mp4'])('has no %s', (path) =>
    expect(() => findPlainFile(hosted, path, () => urls)).toThrow(NOT_FOUND),
  );

  test('is not found while its provider has no URLs', () => {
    expect(() => findPlainFile(hosted, 'hls.m3u8')).toThrow(NOT_FOUND);
  });
});

test.each([...ENTRY_FILES, '1-1/v0.mp4'])('without anything to play there is no %s', (file) => {
  const resolved = () => ({ hls: 'https://cdn.test/v.m3u8', dash: null, thumbnail: null });
  expect(() => findPlainFile(nothing, file)).toThrow(NOT_FOUND);
  expect(() => findPlainFile(nothing, file, resolved)).toThrow(NOT_FOUND);
});

test('types come from our table, and what is not in it is only bytes', () => {
  expect(
    ['hls.m3u8', 'dash.mpd', 'thumb.jpg', 'a.mp4', '2-1/b.m4s', 'a.vtt', 'a.webp', 'a.m4a'].map(
      contentTypeOf,
    ),
  ).toEqual([
    'application/vnd.apple.mpegurl',
    'application/dash+xml',
    'image/jpeg',
    'video/mp4',
    'video/iso.segment',
    'text/vtt; charset=utf-8',
    'image/webp',
    'audio/mp4',
  ]);
  expect(
    ['a.html', 'a.svg', 'a', 'a.', 'mp4', '.m3u8.exe', 'a.constructor'].map(contentTypeOf),
  ).not.toContain('text/html');
  expect(contentTypeOf('a.html')).toBe('application/octet-stream');
  expect(contentTypeOf('a.constructor')).toBe('application/octet-stream');
});

test('entry files expire within seconds, children never; private ones stay out of shared caches', () => {
  expect(cacheControlFor({ visibility: 'public' }, true)).toBe('public, max-age=10');
  expect(cacheControlFor({ visibility: 'public' }, false)).toBe(
    'public, max-age=31536000, s-maxage=3600, immutable',
  );
  expect(cacheControlFor({ visibility: 'private' }, true)).toBe('private, max-age=10');
  expect(cacheControlFor({ visibility: 'private' }, false)).toBe('private, max-age=31536000, immutable');
});

test('only the three fixed names are entry files', () => {
  expect(['hls.m3u8', 'dash.mpd', 'thumb.jpg'].every(isEntryFile)).toBe(true);
  expect(['HLS.M3U8', 'hls.m3u8 ', 'toString', ''].some(isEntryFile)).toBe(false);
});

describe('of an encrypted video', () => {
  const settings = { segmentEncryption: 'private', findHostedUrls: () => undefined } as const;
  const find = (path: string, asset = own) => resolveFile(asset, path, settings);

  test.each(['hls.m3u8', 'thumb.jpg', 'storyboard.vtt', 'preview.webp', '2-1/storyboard-1.jpg'])(
    '%s is served as it is stored',
    (path) => expect(find(path)).toEqual(findPlainFile(own, path)),
  );

  test.each([
    'dash.mpd',
    'early-2-1.mpd',
    'video.mp4',
    'audio.m4a',
    ...[
      'r0.m3u8',
      'r0-init.mp4',
      'r0-00001.m4s',
      'hls.m3u8',
      'dash.mpd',
      'video.mp4',
      'audio.m4a',
      'a.bin',
    ].map((file) => `2-1/${file}`),
  ])('%s is refused', (path) => expect(() => find(path)).toThrow(NOT_FOUND));

  test('all files are served when it is public, or of others', () => {
    const shown = { ...own, visibility: 'public' } as const;
    expect(find('2-1/r0-00001.m4s', shown)).toEqual(findPlainFile(shown, '2-1/r0-00001.m4s'));
    expect(find('hls.m3u8', reported)).toEqual({ kind: 'elsewhere', location: 'https://cdn.test/a.m3u8' });
  });
});
