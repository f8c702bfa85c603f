// Tests under which names browsers save MP4 and M4A files.
import { expect, test } from 'vitest';
import { findDownloadName, toDownloadSearch } from './download-name.ts';

test('MP4 and M4A files are saved under the requested name, others are shown', () => {
  expect(findDownloadName({ download: 'a "b".mp4' }, 'video.mp4')).toBe('a "b".mp4');
  expect(findDownloadName({ download: 'ü.m4a' }, 'audio.m4a')).toBe('ü.m4a');
  for (const file of ['hls.m3u8', 'storyboard.vtt', '1-1/r0-init.mp4', '1-1/video.mp4'])
    expect(findDownloadName({ download: 'a' }, file)).toBeUndefined();
  for (const query of [{}, undefined, { other: 'a' }])
    expect(findDownloadName(query, 'video.mp4')).toBeUndefined();
});

test.each([[''], ['a'.repeat(256)], [['a', 'b']], [{ a: 1 }]])('%j is no name', (download) => {
  expect(() => findDownloadName({ download }, 'video.mp4')).toThrow(
    expect.objectContaining({ details: { field: 'download' } }),
  );
});

test('a redirect keeps the name', () => {
  expect(toDownloadSearch(undefined)).toBe('');
  expect(toDownloadSearch('a&b\ud800.mp4')).toBe('?download=a%26b%EF%BF%BD.mp4');
});
