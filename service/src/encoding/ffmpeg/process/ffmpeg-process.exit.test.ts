// Tests the classification of ffmpeg's exit, with messages of ffmpeg 7.0 in a limited address space.
import { describe, expect, test } from 'vitest';
import { classifyExit } from './ffmpeg-process.ts';

describe('out_of_memory', () => {
  test.each<[string, number, string]>([
    [
      'a thread cannot be created',
      245,
      '[fc#0 @ 0x5636a1bb8bc0] pthread_create() failed: Resource temporarily unavailable',
    ],
    [
      'a filter cannot create its threads',
      245,
      '[fc#0 @ 0x559f039a7bc0] Error reinitializing filters!\n' +
        '[fc#0 @ 0x559f039a7bc0] Task finished with error code: -11 (Resource temporarily unavailable)',
    ],
    [
      'a filter cannot allocate',
      244,
      '[fc#0 @ 0x55cd247a5bc0] Task finished with error code: -12 (Cannot allocate memory)',
    ],
    ['x264 cannot allocate', 187, 'x264 [error]: malloc of size 7332416 failed'],
    ['a decoder drops frames and ffmpeg succeeds', 0, '[h264 @ 0x560dcb6fa900] Could not allocate memory'],
    [
      'the loader cannot map a library',
      127,
      '/usr/bin/ffmpeg: error while loading shared libraries: libmvec.so.1: ' +
        'failed to map segment from shared object',
    ],
    ["the kernel's OOM killer ends ffmpeg", 137, ''],
  ])('%s', (_, code, log) => expect(classifyExit(code, log)).toBe('out_of_memory'));

  test('is not caused by metadata of the file, which ffmpeg indents', () =>
    expect(classifyExit(0, '    title           : Cannot allocate memory\n')).toBe('exited'));
  test('is not assumed when ffmpeg gives another reason', () =>
    expect(
      classifyExit(
        187,
        '[vost#0:0/libx264 @ 0x55afc723e340] Error while opening encoder - maybe incorrect parameters',
      ),
    ).toBe('exited'));
});

test('a missing library means that ffmpeg could not start', () =>
  expect(
    classifyExit(
      127,
      'ffmpeg: error while loading shared libraries: libx264.so: cannot open shared object file',
    ),
  ).toBe('not_started'));

test.each([
  [126, 'not_started'],
  [152, 'timed_out'],
  [153, 'output_too_large'],
  [1, 'exited'],
] as const)('exit code %d is %s', (code, outcome) => expect(classifyExit(code, '')).toBe(outcome));
