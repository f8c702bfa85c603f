// What names and announced facts pass, at the very edges (contract B1, B4).
import { describe, expect, test } from 'vitest';
import { announcedMismatch, isFilename, createRefusal } from './content-check.ts';

describe('a filename', () => {
  test.each([
    ['one letter', 'a'],
    ['255 letters', 'x'.repeat(255)],
    ['255 emoji, two places each', '🎬'.repeat(255)],
    ['dots', '..'],
    ['a path', '../../etc/passwd'],
    ['a dash in front', '-rf'],
    ['right to left', '\u202etxt.exe'],
    ['a joined family', '👨‍👩‍👧'],
    ['quotes', '"\'`'],
    ['spaces around', ' a '],
    ['a combining mark alone', '\u0301'],
  ])('may be %s', (_what, name) => expect(isFilename(name)).toBe(true));

  test.each([
    ['empty', ''],
    ['blank', ' \u00a0\u2003'],
    ['256 letters', 'x'.repeat(256)],
    ['256 emoji', '🎬'.repeat(256)],
    ['100 KB', 'x'.repeat(100_000)],
    ['a NUL', 'a\0b'],
    ['a line break', 'a\r\nb'],
    ['a C1 control', 'a\u0085b'],
    ['DEL', 'a\x7f'],
    ['a lone surrogate', 'a\ud83d'],
    ['a reversed pair', '\udc00\ud800'],
  ])('may not be %s', (_what, name) => expect(isFilename(name)).toBe(false));
});

describe('what was announced', () => {
  const none = { announced_size_bytes: null, announced_sha256: null, size_bytes: 3, checksum_sha256: 'aa' };
  test.each([
    ['nothing', none, undefined],
    ['what came', { ...none, announced_size_bytes: 3, announced_sha256: 'aa' }, undefined],
    ['another size', { ...none, announced_size_bytes: 4, announced_sha256: 'aa' }, 'size_mismatch'],
    ['another digest', { ...none, announced_size_bytes: 3, announced_sha256: 'bb' }, 'checksum_mismatch'],
    [
      'neither size nor digest',
      { ...none, announced_size_bytes: 4, announced_sha256: 'bb' },
      'size_mismatch',
    ],
    ['no bytes, and some came', { ...none, announced_size_bytes: 0 }, 'size_mismatch'],
  ])('%s', (_what, asset, verdict) => expect(announcedMismatch(asset)).toBe(verdict));
});

test('a refusal is final, and says why in words', () => {
  for (const code of [
    'size_mismatch',
    'checksum_mismatch',
    'type_mismatch',
    'playlist',
    'not_media',
    'no_video_track',
    'truncated',
    'too_large_picture',
  ] as const) {
    expect(createRefusal(code)).toMatchObject({
      code,
      retryable: true,
      message: expect.stringMatching(/^The .{10,}/),
    });
  }
});
