// Tests how reports open new attempts, and how an encoder revokes a `ready` (contract B6).
import { describe, expect, test } from 'vitest';
import {
  afterReport,
  afterReports,
  createReport,
  createVideo,
  LATER,
  NOW,
  withUrls,
} from '../asset.fixture.ts';
import { decideReport, MAX_ATTEMPTS_AHEAD } from './decide.ts';

const first = afterReports(createVideo(), [
  createReport('started', { progress: 60, renditions: [{ height: 720, state: 'ready' }] }),
  createReport('succeeded', withUrls('https://a.example/1.m3u8')),
  createReport('failed'),
]);
const opened = afterReport(first, createReport('started', { attempt: 2 }), LATER);

describe('a new attempt', () => {
  test('starts as processing with progress 0, and keeps only the playback', () => {
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
      ready_at: null,
    });
    expect(
      afterReport({ ...first, encode_run: 3, encoded_run: 3 }, createReport('started', { attempt: 2 })),
    ).toMatchObject({ encode_run: 0, encoded_run: 0 });
    expect(opened.playback).toEqual(first.playback);
    expect(opened.playable_at).toEqual(first.playable_at);
  });

  test('keeps the warnings about the file', () => {
    const odd = { code: 'hdr', message: 'High dynamic range.' };
    const incomplete = { code: 'encoding_incomplete', message: 'Some renditions failed.' };
    const attempt = createReport('started', { attempt: 2 });
    expect(afterReport({ ...first, warnings: [incomplete, odd] }, attempt).warnings).toEqual([odd]);
  });

  test('applies the report that opened it', () => {
    expect(afterReport(first, createReport('started', { attempt: 2, progress: 35 }))).toMatchObject({
      stream_status: 'processing',
      progress: 35,
    });
    expect(
      afterReport(
        first,
        createReport('succeeded', { attempt: 5, ...withUrls('https://a.example/5.m3u8') }),
        LATER,
      ),
    ).toMatchObject({
      stream_status: 'ready',
      attempt: 5,
      progress: 100,
      ready_at: LATER,
      playback: { attempt: 5, hls: 'https://a.example/5.m3u8' },
    });
  });

  test('revokes a ready when it fails, and the earlier playback stays', () => {
    const revoked = afterReport(
      first,
      createReport('failed', {
        attempt: 2,
        failure: { code: 'bad_picture', message: 'bad', retryable: true },
      }),
    );
    expect(revoked).toMatchObject({
      stream_status: 'failed',
      attempt: 2,
      failure: { code: 'bad_picture' },
      playback: first.playback,
    });
  });

  test('clears the failure of the previous attempt', () => {
    const failed = afterReport(
      createVideo(),
      createReport('failed', { failure: { code: 'first', message: 'first', retryable: true } }),
    );
    expect(afterReport(failed, createReport('started', { attempt: 2 })).failure).toBeNull();
    expect(afterReport(failed, createReport('failed', { attempt: 2 })).failure?.code).toBe('encode_failed');
  });

  test('replaces the playback when it is ready, also without URLs', () => {
    const other = afterReport(
      opened,
      createReport('succeeded', {
        attempt: 2,
        playback: { kind: 'urls', urls: { dash: 'https://a.example/2.mpd' } },
      }),
    );
    expect(other.playback).toEqual({
      kind: 'urls',
      attempt: 2,
      hls: null,
      dash: 'https://a.example/2.mpd',
      thumbnail: null,
    });
    expect(afterReport(opened, createReport('succeeded', { attempt: 2 })).playback).toBeNull();
  });

  test('ignores reports of the previous attempt', () => {
    for (const event of ['started', 'failed', 'succeeded'] as const) {
      expect(
        decideReport(
          opened,
          createReport(event, { attempt: 1, progress: 99, ...withUrls('https://old.example/') }),
          NOW,
        ),
      ).toEqual({ processed: false, reason: 'older_attempt' });
    }
  });

  test('receives reports without an attempt number', () => {
    expect(
      afterReport(opened, createReport('succeeded', withUrls('https://a.example/2.m3u8'))),
    ).toMatchObject({
      stream_status: 'ready',
      attempt: 2,
      playback: { attempt: 2 },
    });
  });
});

describe('an attempt far ahead of the current one', () => {
  const farthest = opened.attempt + MAX_ATTEMPTS_AHEAD;

  test.each(['started', 'failed', 'succeeded'] as const)('is ignored in a report "%s"', (event) => {
    for (const attempt of [farthest + 1, 1_000_000_000])
      expect(decideReport(opened, createReport(event, { attempt }), LATER)).toEqual({
        processed: false,
        reason: 'not_actionable',
      });
  });

  test('is accepted up to the limit', () => {
    expect(afterReport(opened, createReport('started', { attempt: farthest }), LATER).attempt).toBe(farthest);
  });
});
