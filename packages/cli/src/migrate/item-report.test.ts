// What a run does with an item, and when an asset equals one.
import { expect, test } from 'vitest';
import { compareItem, decideRetry, type FoundAsset, planItem } from './item-report.ts';
import { NO_FACTS, toLanguage } from './source.ts';

const item = { ...NO_FACTS, id: 'v1', durationMs: 60_000 };
const ready: FoundAsset = {
  id: 'asset',
  kind: 'video',
  provider: 'onprem',
  stream_status: 'ready',
  failure: null,
  size_bytes: 100,
  checksum_sha256: 'a'.repeat(64),
  duration_ms: 60_400,
  uploaded_at: '2026-11-22T10:15:00.000Z',
};
const failure = { code: 'type_mismatch', message: 'The file is no MP4.', retryable: true } as const;
const failed: FoundAsset = { ...ready, stream_status: 'failed', failure };
const broken = { ...item, problem: 'The video failed at the source.' };

test('a plan has what is new, what exists, and what cannot be moved', () => {
  expect(planItem(item, undefined)).toEqual({ result: 'new', reason: null });
  expect(planItem({ ...item, notes: ['No original.'] }, undefined).reason).toBe('No original.');
  expect(planItem(broken, undefined)).toEqual({ result: 'not_movable', reason: broken.problem });
  expect(planItem(broken, ready)).toEqual({ result: 'existing', reason: null });
  expect(planItem(item, failed)).toEqual({ result: 'failed', reason: 'type_mismatch: The file is no MP4.' });
});

test.each([
  [undefined, 'missing', /no asset/],
  [{ ...ready, stream_status: 'processing' as const }, 'processing', /is processing/],
  [failed, 'failed', /type_mismatch/],
  [{ ...ready, duration_ms: 58_900 }, 'different', /^duration_ms is 58900 instead of 60000/],
  [{ ...ready, duration_ms: 59_000 }, 'equal', null],
  [{ ...ready, duration_ms: null }, 'equal', null],
])('the asset %j is %s', (asset, result, reason) => {
  const found = compareItem(item, asset);
  expect(found).toEqual({ result, reason: reason && expect.stringMatching(reason) });
});

test('size and SHA-256 of the moved file are exact, where the source knows them', () => {
  expect(compareItem({ ...item, fileSizeBytes: 100, fileSha256: 'a'.repeat(64) }, ready).result).toBe(
    'equal',
  );
  expect(compareItem({ ...item, fileSizeBytes: 101 }, ready).reason).toMatch(/^size_bytes is 100/);
  expect(compareItem({ ...item, fileSha256: 'b'.repeat(64) }, ready).reason).toMatch(/^checksum_sha256 is a/);
});

test('one per cent of a long video is allowed', () => {
  const long = { ...item, durationMs: 3_600_000 };
  expect(compareItem(long, { ...ready, duration_ms: 3_570_000 }).result).toBe('equal');
  expect(compareItem(long, { ...ready, duration_ms: 3_560_000 }).result).toBe('different');
});

test('captions in all languages are there', () => {
  const captions = { expected: ['de', 'en'], present: ['de'] };
  expect(compareItem(item, ready, captions).reason).toBe('Captions are missing: en.');
  expect(compareItem(item, ready, { ...captions, present: ['en', 'de', 'fr'] }).result).toBe('equal');
});

test('what cannot be moved is not missing', () => {
  expect(compareItem(broken, undefined)).toEqual({ result: 'not_movable', reason: broken.problem });
});

test('stored bytes are processed again, others are imported again', () => {
  expect(decideRetry(failed)).toBe('retry');
  expect(decideRetry({ ...failed, uploaded_at: null })).toBe('import_again');
});

test.each([
  ['de', 'de'],
  ['pt-br', 'pt-BR'],
  ['en-auto-generated', undefined],
  ['x', undefined],
  ['', undefined],
])('the language of %j is %j', (tag, language) => {
  expect(toLanguage(tag)).toBe(language);
});
