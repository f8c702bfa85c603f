// Tests the comparison with the announced size and digest, and the failures of rejected bytes (contract B4).
import { describe, expect, test } from 'vitest';
import { findMismatch, toContentFailure } from './content-check.ts';

describe('compared with the announcement', () => {
  const none = { announced_size_bytes: null, announced_sha256: null, size_bytes: 3, checksum_sha256: 'aa' };
  test.each([
    ['nothing announced', none, undefined],
    ['the same bytes', { ...none, announced_size_bytes: 3, announced_sha256: 'aa' }, undefined],
    ['another size', { ...none, announced_size_bytes: 4, announced_sha256: 'aa' }, 'size_mismatch'],
    ['another digest', { ...none, announced_size_bytes: 3, announced_sha256: 'bb' }, 'checksum_mismatch'],
    [
      'neither size nor digest',
      { ...none, announced_size_bytes: 4, announced_sha256: 'bb' },
      'size_mismatch',
    ],
    ['a digest that is not known yet', { ...none, announced_sha256: 'bb', checksum_sha256: null }, undefined],
    ['zero bytes announced, some stored', { ...none, announced_size_bytes: 0 }, 'size_mismatch'],
  ])('%s', (_what, asset, verdict) => expect(findMismatch(asset)).toBe(verdict));
});

test('a failure of rejected bytes is retryable and has a full sentence', () => {
  for (const code of [
    'size_mismatch',
    'checksum_mismatch',
    'type_mismatch',
    'playlist',
    'not_media',
    'no_video_track',
    'truncated',
    'picture_too_large',
  ] as const) {
    expect(toContentFailure(code)).toMatchObject({
      code,
      retryable: true,
      message: expect.stringMatching(/^The .{10,}\.$/),
    });
  }
});
