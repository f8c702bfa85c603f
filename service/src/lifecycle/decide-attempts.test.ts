// How a new attempt begins, and how an encoder takes a `ready` back (contract B6).
import { describe, expect, test } from 'vitest';
import { afterReport, afterReports, NOW, createVideo } from './asset.fixture.ts';
import { decideReport, MAX_ATTEMPTS_AHEAD } from './decide.ts';
import type { StreamReport } from './stream-report.ts';

const LATER = new Date(NOW.getTime() + 60_000);
const say = (event: StreamReport['event'], more: Partial<StreamReport> = {}): StreamReport => ({
  source: 'webhook',
  provider: 'onprem',
  event,
  ...more,
});
const hls = (url: string): Partial<StreamReport> => ({ playback: { kind: 'urls', urls: { hls: url } } });

const first = afterReports(createVideo(), [
  say('started', { progress: 60, renditions: [{ height: 720, state: 'ready' }] }),
  say('succeeded', hls('https://a.example/1.m3u8')),
  say('failed'),
]);
const opened = afterReport(first, say('started', { attempt: 2 }), LATER);

describe('a new attempt', () => {
  test('starts as processing at 0 with nothing of the old one but what plays', () => {
    expect(first).toMatchObject({
      progress: 100,
      warnings: [{ code: 'encoding_incomplete' }],
      renditions: [{ height: 720 }],
    });
    expect(opened).toMatchObject({
      stream_status: 'processing',
      attempt: 2,
      progress: 0,
      renditions: [],
      warnings: [],
      failure: null,
      completed_at: null,
    });
    expect(
      afterReport({ ...first, encode_try: 3, encoded_try: 3 }, say('started', { attempt: 2 })),
    ).toMatchObject({ encode_try: 0, encoded_try: 0 });
    expect(opened.playback).toEqual(first.playback);
    expect(opened.playable_at).toEqual(first.playable_at);
  });

  test('gets the report that opened it', () => {
    expect(afterReport(first, say('started', { attempt: 2, progress: 35 }))).toMatchObject({
      stream_status: 'processing',
      progress: 35,
    });
    expect(
      afterReport(first, say('succeeded', { attempt: 5, ...hls('https://a.example/5.m3u8') }), LATER),
    ).toMatchObject({
      stream_status: 'ready',
      attempt: 5,
      progress: 100,
      completed_at: LATER,
      playback: { attempt: 5, hls: 'https://a.example/5.m3u8' },
    });
  });

  test('that failed takes a ready back, and what was playable keeps playing', () => {
    const taken = afterReport(
      first,
      say('failed', { attempt: 2, failure: { code: 'bad_picture', message: 'bad', retryable: true } }),
    );
    expect(taken).toMatchObject({
      stream_status: 'failed',
      attempt: 2,
      failure: { code: 'bad_picture' },
      playback: first.playback,
    });
  });

  test('forgets the failure of the one before', () => {
    const failed = afterReport(
      createVideo(),
      say('failed', { failure: { code: 'first', message: 'first', retryable: true } }),
    );
    expect(afterReport(failed, say('started', { attempt: 2 })).failure).toBeNull();
    expect(afterReport(failed, say('failed', { attempt: 2 })).failure?.code).toBe('encode_failed');
  });

  test('replaces what plays only when it is ready, also where it brings no URLs', () => {
    const other = afterReport(
      opened,
      say('succeeded', { attempt: 2, playback: { kind: 'urls', urls: { dash: 'https://a.example/2.mpd' } } }),
    );
    expect(other.playback).toEqual({
      kind: 'urls',
      attempt: 2,
      hls: null,
      dash: 'https://a.example/2.mpd',
      thumbnail: null,
    });
    expect(afterReport(opened, say('succeeded', { attempt: 2 })).playback).toBeNull();
  });

  test('is not moved by reports of the one before', () => {
    for (const event of ['started', 'failed', 'succeeded'] as const) {
      expect(
        decideReport(opened, say(event, { attempt: 1, progress: 99, ...hls('https://old.example/') }), NOW),
      ).toEqual({ processed: false, reason: 'older_attempt' });
    }
  });

  test('is what reports without a number speak of', () => {
    expect(afterReport(opened, say('succeeded', hls('https://a.example/2.m3u8')))).toMatchObject({
      stream_status: 'ready',
      attempt: 2,
      playback: { attempt: 2 },
    });
  });
});

describe('an attempt far ahead of the current one', () => {
  const farthest = opened.attempt + MAX_ATTEMPTS_AHEAD;

  test.each(['started', 'failed', 'succeeded'] as const)('of a report "%s" changes nothing', (event) => {
    for (const attempt of [farthest + 1, 1_000_000_000])
      expect(decideReport(opened, say(event, { attempt }), LATER)).toEqual({
        processed: false,
        reason: 'not_actionable',
      });
  });

  test('is taken up to the limit', () => {
    expect(afterReport(opened, say('started', { attempt: farthest }), LATER).attempt).toBe(farthest);
  });
});
