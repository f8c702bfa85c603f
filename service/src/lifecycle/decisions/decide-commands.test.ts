// Tests what completions, retries and refusals do to an asset (contract B4, B6).
import { describe, expect, test } from 'vitest';
import { afterReport, createReport, NOW, VIDEOS } from '../asset.fixture.ts';
import { CANCELLED } from './cancellation.ts';
import { decideChecksum, decideCompletion, decideRefusal, decideRetry } from './decide-commands.ts';

const { pending, processing, ready, failed: failedVideo, refused: refusedVideo } = VIDEOS;

describe('the SHA-256 of bytes that went straight to the store', () => {
  const stored = { uploaded_at: NOW, original_upload: 'a', checksum_sha256: null } as const;
  const read = { uploadId: 'a', sha256: 'aa', duplicateOf: 'other' };

  test.each([null, 'aa'])('is recorded if %s was announced', (announced_sha256) => {
    const asset = { ...processing, ...stored, announced_sha256 };
    const set = { checksum_sha256: 'aa', duplicate_of: 'other' };
    expect(decideChecksum(asset, read)).toEqual({ set, events: [], jobs: [] });
  });

  test('fails the asset if another one was announced, and removes the bytes', () => {
    expect(decideChecksum({ ...processing, ...stored, announced_sha256: 'bb' }, read)).toMatchObject({
      set: {
        stream_status: 'failed',
        refused: true,
        uploaded_at: null,
        checksum_sha256: 'aa',
        failure: { code: 'checksum_mismatch', retryable: true },
      },
      events: [{ type: 'asset.failed', data: { code: 'checksum_mismatch' } }],
      jobs: [{ name: 'purge-asset' }],
    });
  });

  test('fails a later attempt if the job had read the bytes when the earlier one was over', () => {
    const announced = { ...processing, ...stored, announced_sha256: 'bb' } as const;
    const cancelled = { ...announced, stream_status: 'failed', failure: CANCELLED } as const;
    const known = { ...cancelled, ...decideChecksum(cancelled, read)?.set };
    expect(known).toMatchObject({ stream_status: 'failed', refused: false, checksum_sha256: 'aa' });
    expect(decideChecksum(known, read)).toBeUndefined();
    const retried = { ...known, ...decideRetry(known, {}, NOW)?.set };
    expect(decideChecksum(retried, read)).toMatchObject({
      set: { stream_status: 'failed', refused: true, failure: { code: 'checksum_mismatch' } },
      events: [{ type: 'asset.failed', data: { attempt: 2, code: 'checksum_mismatch' } }],
      jobs: [{ name: 'purge-asset' }],
    });
  });

  test.each([
    ['is known', { checksum_sha256: 'cc' }],
    ['is known and was announced', { checksum_sha256: 'aa', announced_sha256: 'aa' }],
    ['is that of an earlier upload', { original_upload: 'b' }],
    ['comes after the bytes were refused', { uploaded_at: null }],
  ])('changes nothing if it %s', (_what, change) =>
    expect(decideChecksum({ ...processing, ...stored, ...change }, read)).toBeUndefined(),
  );
});

describe('the decision on', () => {
  test('a completion starts processing once', () => {
    expect(decideCompletion(pending, { facts: { width: 320 } }, NOW)).toMatchObject({
      set: { stream_status: 'processing', width: 320 },
      events: [{ type: 'asset.processing', data: { attempt: 1, source: 'caller' } }],
    });
    for (const asset of [processing, ready, failedVideo])
      expect(decideCompletion(asset, { facts: {} }, NOW)).toBeUndefined();
  });

  test('a completion adds its warnings to those of early reports, and later reports keep them', () => {
    const warning = (code: string, message = code) => ({ code, message });
    const seen = { ...pending, warnings: [warning('hdr', 'reported')] };
    const completion = { facts: {}, warnings: [warning('hdr'), warning('no_audio')] };
    const completed = { ...seen, ...decideCompletion(seen, completion, NOW)?.set };
    expect(completed.warnings).toEqual([warning('hdr', 'reported'), warning('no_audio')]);
    const report = createReport('succeeded', {
      warnings: [warning('no_audio', 'later'), warning('interlaced')],
    });
    expect(afterReport(completed, report).warnings).toEqual([...completed.warnings, warning('interlaced')]);
  });

  test('a retry opens an attempt only after a failure', () => {
    expect(decideRetry(failedVideo, {}, NOW)).toMatchObject({
      set: { stream_status: 'processing', attempt: 2, failure: null },
      events: [{ type: 'asset.processing', data: { attempt: 2, source: 'caller' } }],
    });
    for (const asset of [pending, processing, ready]) expect(decideRetry(asset, {}, NOW)).toBeUndefined();
  });

  test('a refusal is final for its attempt', () => {
    expect(
      decideRefusal(pending, { code: 'playlist', message: 'no', retryable: false }).events,
    ).toMatchObject([{ type: 'asset.failed', data: { attempt: 1, source: 'service', code: 'playlist' } }]);
    expect(refusedVideo).toMatchObject({
      stream_status: 'failed',
      refused: true,
      failure: { code: 'playlist', retryable: false },
    });
    expect(afterReport(refusedVideo, createReport('succeeded', { attempt: 2 }))).toMatchObject({
      stream_status: 'ready',
      refused: false,
      failure: null,
      attempt: 2,
    });
  });
});
