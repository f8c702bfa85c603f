// Tests who may choose a poster, and when a new one is due (contract B2).
import { describe, expect, test } from 'vitest';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import { decidePoster } from '../lifecycle/decisions/decide-commands.ts';
import type { Manifest } from './playback-manifest.ts';
import { awaitsReport, isPosterDue, assertPosterTime } from './poster.ts';

const own = (posterTimeMs?: number, folder = '1-1'): Manifest => ({
  kind: 'own',
  attempt: 1,
  folder,
  ...(posterTimeMs !== undefined && { posterTimeMs }),
});
const urls: Manifest = {
  kind: 'urls',
  attempt: 1,
  hls: 'https://a.example/a.m3u8',
  dash: null,
  thumbnail: null,
};

describe('a time that is chosen', () => {
  const choose =
    (timeMs: number | null | undefined, more: Parameters<typeof createVideo>[0] = {}, isHosted = false) =>
    () =>
      assertPosterTime(createVideo(more), { timeMs, isHosted });

  test.each([0, 1, 5999])('may be %d of a video of six seconds', (timeMs) => {
    expect(choose(timeMs, { duration_ms: 6000 })).not.toThrow();
  });
  test.each([6000, 6001, 2 ** 31 - 1])('must not be %d of one, and the error has the limit', (timeMs) => {
    expect(choose(timeMs, { duration_ms: 6000 })).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        details: { field: 'poster_time_ms', reason: 'above_maximum', limit: 6000 },
      }),
    );
  });
  test('may be any as long as the length is unknown', () => {
    expect(choose(2 ** 31 - 1)).not.toThrow();
  });
  test('is rejected for images, and for videos that others encode', () => {
    const refusal = expect.objectContaining({ code: 'BAD_REQUEST', details: { field: 'poster_time_ms' } });
    expect(choose(0, { kind: 'image', provider: null })).toThrow(refusal);
    expect(choose(0, { provider: 'cdnhost' }, true)).toThrow(refusal);
  });
  test('can be given up, or left alone, of everything', () => {
    for (const timeMs of [null, undefined]) {
      expect(choose(timeMs, { kind: 'image', provider: null })).not.toThrow();
      expect(choose(timeMs, { provider: 'cdnhost', duration_ms: 1 }, true)).not.toThrow();
    }
  });
});

describe('a picture', () => {
  test.each([
    [own(), null, false],
    [own(), 0, true],
    [own(0), 0, false],
    [own(0), null, true],
    [own(5), 7, true],
    [own(7), 7, false],
    [urls, 7, false],
    [null, 7, false],
  ])('of what plays as %j is due for %j: %j', (playback, poster_time_ms, isDue) => {
    expect(isPosterDue({ playback, poster_time_ms })).toBe(isDue);
  });

  test('of whole files waits for their report', () => {
    expect([
      awaitsReport(createVideo({ stream_status: 'processing', encoded_run: 1 })),
      awaitsReport(createVideo({ stream_status: 'processing' })),
      awaitsReport(createVideo({ stream_status: 'ready', encoded_run: 1 })),
    ]).toEqual([true, false, false]);
  });
});

describe('a picture that was made', () => {
  const made = createVideo({ playback: own(), poster_time_ms: 7 });

  test('is shown, with an event and without another change', () => {
    expect(decidePoster(made, made)).toEqual({
      set: { playback: own(7) },
      events: [{ type: 'asset.updated', data: { attempt: 1, source: 'service', fields: ['playback'] } }],
      jobs: [],
    });
  });
  test('is no longer shown where the choice was given up', () => {
    const before = { ...made, playback: own(7), poster_time_ms: null };
    expect(decidePoster(before, before)?.set.playback).toEqual(own());
  });
  test.each([
    ['another time is wanted', { poster_time_ms: 8 }],
    ['none is wanted', { poster_time_ms: null }],
    ['another run plays', { playback: own(undefined, '1-2') }],
    ['reported URLs play', { playback: urls }],
    ['nothing plays', { playback: null }],
    ['it is shown already', { playback: own(7) }],
  ])('is not shown where %s', (_why, more) => {
    expect(decidePoster({ ...made, ...more }, made)).toBeUndefined();
  });
});
