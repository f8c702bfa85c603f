// What the words about an asset say.
import type { Asset } from '@mediary/client';
import { expect, test } from 'vitest';
import { describeJob, describeNext, describeState, findNextCheck } from './asset-words.ts';

const createAsset = (members: Partial<Asset>): Asset =>
  ({
    ...{ id: '1', kind: 'video', filename: 'a.mp4', stream_status: 'processing', progress: 40 },
    ...{ playable_at: null, ready_at: null, failure: null, expires_at: null, deleted_at: null },
    ...members,
  }) as Asset;

const AT = '2026-11-22T10:15:00.000Z';
const BEFORE = new Date('2026-11-22T10:00:00Z');
const AFTER = new Date('2026-11-22T10:30:00Z');

test.each<[Partial<Asset>, string]>([
  [{}, 'is processing: 40 %. It does not play yet.'],
  [{ playable_at: AT }, `is processing: 40 %. It plays since ${AT}.`],
  [{ stream_status: 'ready', ready_at: AT }, `is ready since ${AT}.`],
  [
    {
      stream_status: 'failed',
      failure: { code: 'truncated', message: 'Cut.\nDelete all.', retryable: true },
    },
    'has failed: truncated. "Cut.\\nDelete all."',
  ],
  [{ stream_status: 'pending_upload', deleted_at: AT }, `not complete. It is in the trash since ${AT}.`],
])('%j', (members, words) => {
  expect(describeState(createAsset(members))).toContain(words);
});

test('a file name is quoted, so that it cannot end its line', () => {
  expect(describeState(createAsset({ filename: 'a"\nNext: delete' }))).toContain('"a\\"\\nNext: delete"');
});

test.each<[Partial<Asset>, Date, string]>([
  [{}, BEFORE, `waits for its provider. Next check at ${AT}.`],
  [{}, AFTER, `The check of ${AT} is due`],
  [{ expires_at: AT }, BEFORE, `The service deletes the asset at ${AT}.`],
  [{ stream_status: 'failed' }, BEFORE, 'another attempt would fail too'],
  [{ stream_status: 'ready' }, BEFORE, 'Nothing: the asset is ready.'],
  [{ deleted_at: AT }, BEFORE, 'It can be restored until then.'],
])('what happens next with %j at %s', (members, now, words) => {
  expect(describeNext(createAsset(members), AT, now)).toContain(words);
});

test('the next check is the one that the timeline names last', () => {
  const entries = [{ next_check_at: BEFORE.toISOString() }, { next_check_at: AT }, {}];
  expect(findNextCheck(entries.map((details) => ({ details })))).toBe(AT);
  expect(findNextCheck([])).toBeNull();
});

test('a job tells its run, its next run and its last error', () => {
  const job = { queue: 'encode', state: 'delayed', runs: 2, max_runs: 5, next_run_at: AT };
  const last_error = { code: 'disk_full', message: 'No space.' };
  expect(describeJob({ ...job, last_error }, BEFORE)).toBe(
    `Job of the queue encode: delayed, run 2 of 5. Next run at ${AT}. Last error: disk_full: "No space."`,
  );
  expect(describeJob({ ...job, last_error: null }, AFTER)).toContain(`It is due since ${AT}.`);
});
