// Tests that an edit changes the given columns, raises the version and starts the needed jobs (contract B2).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { openMemoryStore } from '../lifecycle/memory-store.fixture.ts';
import { editAsset } from './asset-edits.ts';
import { createLibraryContext } from './context.fixture.ts';

type Edit = Parameters<typeof editAsset>[2]['edit'];

const asset = createVideo({ version: 3, playback_version: 5, title: 'Old', visibility: 'private' });
const playing = createVideo({
  stream_status: 'ready',
  duration_ms: 10_000,
  playback: { kind: 'own', attempt: 1, folder: '1-1' },
});
const hosted = createVideo({ provider: 'cdnhost', provider_video_id: 'guid-1' });
const payload = { assetId: asset.id };

async function edited(
  seen: Asset,
  changed: Edit,
  {
    ifMatch,
    isHosted = false,
    canSign = true,
  }: { ifMatch?: string; isHosted?: boolean; canSign?: boolean } = {},
) {
  const { update, decisions } = openMemoryStore(seen, NOW);
  const ctx = createLibraryContext({
    lifecycle: { update },
    providers: { isHosted: () => isHosted, canSign: () => canSign },
  });
  const request = { edit: changed, ifMatch, actorData: { user: 'ann' } };
  const updated = await editAsset(ctx, seen, request);
  return { updated, decision: decisions[0] };
}

test('named columns change, and the version is raised', async () => {
  const { updated, decision } = await edited(asset, { title: 'New', tags: ['a'] });
  expect(updated).toEqual({ ...asset, title: 'New', tags: ['a'], version: 4 });
  expect(decision?.events).toEqual([
    { type: 'asset.updated', data: { user: 'ann', fields: ['title', 'tags'] } },
  ]);
  expect(decision?.jobs).toEqual([]);
});

test('playback tokens end when the visibility changes, and only then', async () => {
  expect((await edited(asset, { visibility: 'public' })).updated.playback_version).toBe(6);
  expect((await edited(asset, { visibility: 'private' })).updated.playback_version).toBe(5);
  expect((await edited(asset, { title: 'New' })).updated.playback_version).toBe(5);
});

test('the provider of a hosted video learns of a change of visibility, and only of that', async () => {
  const jobsOf = async (seen: Asset, changed: Edit) => (await edited(seen, changed)).decision?.jobs;
  expect(await jobsOf(hosted, { visibility: 'public' })).toEqual([{ name: 'protect-video', payload }]);
  expect(await jobsOf(hosted, { visibility: 'private' })).toEqual([]);
  expect(await jobsOf(hosted, { title: 'New' })).toEqual([]);
  expect(await jobsOf(asset, { visibility: 'public' })).toEqual([]);
});

test('a video demands signed URLs only if they can be signed', async () => {
  const shown: Asset = { ...hosted, visibility: 'public' };
  const jobsOf = async (seen: Asset, visibility: Asset['visibility'], canSign: boolean) =>
    (await edited(seen, { visibility }, { canSign })).decision?.jobs.length;
  expect(await jobsOf(shown, 'private', true)).toBe(1);
  expect(await jobsOf(shown, 'private', false), 'nobody could play it').toBe(0);
  expect(await jobsOf(hosted, 'public', false)).toBe(1);
});

describe('a poster is made', () => {
  const makesPoster = async (seen: Asset, changed: Edit) =>
    (await edited(seen, changed)).decision?.jobs.some(({ name }) => name === 'make-poster');
  const unreported = createVideo({ stream_status: 'processing', encoded_run: 1, poster_time_ms: 100 });

  test('for a new time of a video that plays', async () => {
    expect((await edited(playing, { poster_time_ms: 500 })).decision?.jobs).toEqual([
      { name: 'make-poster', payload },
    ]);
    expect(await makesPoster(playing, { title: 'New' })).toBe(false);
  });
  test('for a changed time while the encoded files are not reported yet', async () => {
    expect(await makesPoster(unreported, { poster_time_ms: 500 })).toBe(true);
    expect(await makesPoster(unreported, { poster_time_ms: 100 })).toBe(false);
    expect(await makesPoster(unreported, { title: 'New' })).toBe(false);
  });
  test('by the encoder itself while it runs', async () => {
    expect(await makesPoster({ ...unreported, encoded_run: 0 }, { poster_time_ms: 500 })).toBe(false);
  });
});

describe('an edit is refused', () => {
  test('of a deleted or missing asset', async () => {
    const { update } = openMemoryStore('missing', NOW);
    const ctx = createLibraryContext({ lifecycle: { update } });
    const request = { edit: { title: 'New' }, ifMatch: undefined, actorData: {} };
    await expect(editAsset(ctx, asset, request)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'No such asset',
    });
    await expect(edited({ ...asset, deleted_at: NOW }, { title: 'New' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'No such asset',
    });
  });
  test('of another version than the caller has seen', async () => {
    await expect(edited(asset, { title: 'New' }, { ifMatch: '"2"' })).rejects.toMatchObject({
      code: 'PRECONDITION_FAILED',
    });
    expect((await edited(asset, { title: 'New' }, { ifMatch: '"3"' })).updated.version).toBe(4);
  });
  test.each<[string, Edit, boolean]>([
    ['title', { title: '\0' }, false],
    ['poster_time_ms', { poster_time_ms: 10_000 }, false],
    ['poster_time_ms', { poster_time_ms: 0 }, true],
    ['focal_point', { focal_point: { x: 0.5, y: 0.5 } }, false],
  ])('with an invalid %s', async (field, changed, isHosted) => {
    await expect(edited(playing, changed, { isHosted })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      details: { field },
    });
  });
});
