// Tests what a new file changes of an asset, what a rollback brings back, and what neither does.
import { describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { fileOf } from '../../assets/previous-version.ts';
import type { JobRequest } from '../../jobs.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { findEndedReferences } from '../../lifecycle/decisions/stored-references.ts';
import {
  decideEnd,
  decideForgetting,
  decideOvertaken,
  decideRollback,
  decideTakeover,
} from './decide-versions.ts';

const DAY_MS = 86_400_000;
const LATER = new Date(NOW.getTime() + DAY_MS);
const [OLD_UPLOAD, NEW_UPLOAD] = [
  '01900000-0000-7000-8000-00000000000a',
  '01900000-0000-7000-8000-00000000000b',
];

const asset = createVideo({
  stream_status: 'ready',
  title: 'Launch',
  visibility: 'public',
  filename: 'old.mp4',
  uploaded_at: NOW,
  ready_at: NOW,
  original_upload: OLD_UPLOAD,
  playback: { kind: 'own', attempt: 1, folder: '1-1' },
  chapters: [{ start_ms: 0, title: 'Intro' }],
  encode_run: 3,
});
const replacement = createVideo({
  id: '01900000-0000-7000-8000-000000000002',
  version_of: asset.id,
  stream_status: 'ready',
  attempt: 2,
  filename: 'new.mp4',
  uploaded_at: LATER,
  ready_at: LATER,
  original_upload: NEW_UPLOAD,
  playback: { kind: 'own', attempt: 2, folder: '2-1' },
  encode_run: 1,
  encoded_run: 1,
  duplicate_of: asset.id,
});

const replacing = { trashDays: 30, now: NOW, purges: [] as readonly JobRequest[] };
const takeover = (seen: Asset = asset, given: Partial<typeof replacing> = {}) =>
  decideTakeover(seen, replacement, { ...replacing, ...given });
const replaced: Asset = { ...asset, ...takeover().set };
const rollback = (seen: Asset, now = LATER) =>
  decideRollback(seen, { ...replacing, now, actorData: { user: 'ann' } });

describe('a takeover', () => {
  test('gives the asset the file, and leaves what is about the asset', () => {
    expect(fileOf(replaced)).toEqual({ ...fileOf(replacement), duplicate_of: null });
    expect(replaced).toMatchObject({ id: asset.id, title: 'Launch', visibility: 'public', version: 2 });
    expect(replaced).toMatchObject({ attempt: 2, encode_run: 1, encoded_run: 1, stream_status: 'ready' });
  });

  test('keeps the old file for TRASH_DAYS, and its objects', () => {
    expect(replaced.previous_version).toMatchObject({
      replaced_at: NOW.toISOString(),
      restorable_until: new Date(NOW.getTime() + 30 * DAY_MS).toISOString(),
      file: { filename: 'old.mp4', uploaded_at: NOW.toISOString() },
    });
    expect(findEndedReferences(asset, replaced)).toEqual([]);
  });

  test('keeps nothing without a trash, and nothing of an asset that has failed', () => {
    expect(takeover(asset, { trashDays: 0 }).set.previous_version).toBeNull();
    expect(takeover({ ...asset, stream_status: 'failed' }).set.previous_version).toBeNull();
    const ended = findEndedReferences(asset, { ...asset, ...takeover(asset, { trashDays: 0 }).set });
    expect(ended).toEqual([`originals/${asset.id}/${OLD_UPLOAD}`, `renditions/${asset.id}/1-1/`]);
  });

  test('lets issued tokens stay valid, unless a CDN is purged', () => {
    const purges = [{ name: 'make-poster', payload: { assetId: asset.id } }] as const;
    expect(takeover().set.playback_version).toBe(asset.playback_version);
    expect(takeover(asset, { purges }).set.playback_version).toBe(asset.playback_version + 1);
  });

  test('is an event of the asset; its extra files are made again where they were not copied', () => {
    const { events, jobs } = takeover();
    expect(events).toMatchObject([{ type: 'asset.replaced', data: { replacement_id: replacement.id } }]);
    expect(jobs).toEqual([{ name: 'make-extras', payload: { assetId: asset.id, folder: '2-1' } }]);
    expect(decideEnd(replacement, { reason: 'took_over', now: NOW })).toMatchObject({
      set: { deleted_at: NOW, purge_at: null },
      jobs: [{ name: 'purge-asset', payload: { assetId: replacement.id } }],
    });
  });

  test('that another attempt of the asset has overtaken can be retried', () => {
    expect(decideOvertaken(replacement, { attempt: 5 }).set).toMatchObject({
      attempt: 5,
      stream_status: 'failed',
      failure: { code: 'replacement_overtaken', retryable: true },
    });
  });
});

describe('a rollback', () => {
  test('lets the files change places, so that another one undoes it', () => {
    const back: Asset = { ...replaced, ...rollback(replaced).set };
    expect(fileOf(back)).toEqual(fileOf(asset));
    expect(back.previous_version?.file.filename).toBe('new.mp4');
    const again: Asset = { ...back, ...rollback(back).set };
    expect(fileOf(again)).toEqual(fileOf(replaced));
    expect(findEndedReferences(back, again)).toEqual([]);
  });

  test('opens another attempt, so that late reports on the other file change nothing', () => {
    expect(rollback(replaced).set.attempt).toBe(3);
    expect(rollback(replaced).events).toMatchObject([
      { type: 'asset.replaced', data: { user: 'ann', reason: 'rolled_back', attempt: 3 } },
    ]);
  });

  test('makes the extras of a file that was replaced before it had them', () => {
    const job = { name: 'make-extras', payload: { assetId: asset.id, folder: '1-1' } };
    expect(rollback(replaced).jobs).toEqual([job]);
    const shown: Asset = { ...asset, playback: { kind: 'own', attempt: 1, folder: '1-1', extras: [] } };
    expect(rollback({ ...shown, ...takeover(shown).set }).jobs).toEqual([]);
  });

  test.each([
    ['no_previous_version', asset, LATER],
    ['no_previous_version', replaced, new Date(NOW.getTime() + 30 * DAY_MS)],
    ['legal_hold', { ...replaced, legal_hold: true }, LATER],
    ['wrong_status', { ...replaced, stream_status: 'processing' }, LATER],
  ] as const)('is refused: %s', (reason, seen, now) => {
    expect(() => rollback(seen, now)).toThrow(
      expect.objectContaining({ code: 'CONFLICT', details: expect.objectContaining({ reason }) }),
    );
  });
});

describe('the previous file', () => {
  const end = new Date(NOW.getTime() + 30 * DAY_MS);

  test('goes after its time, with its objects', () => {
    const change = decideForgetting(replaced, end);
    expect(change).toMatchObject({ set: { previous_version: null }, removesObjects: true });
    expect(findEndedReferences(replaced, { ...replaced, ...change?.set })).toEqual([
      `originals/${asset.id}/${OLD_UPLOAD}`,
      `renditions/${asset.id}/1-1/`,
    ]);
  });

  test('stays before, and while the asset is under a legal hold', () => {
    expect(decideForgetting(replaced, new Date(end.getTime() - 1))).toBeUndefined();
    expect(decideForgetting({ ...replaced, legal_hold: true }, end)).toBeUndefined();
    expect(decideForgetting(asset, end)).toBeUndefined();
  });
});
