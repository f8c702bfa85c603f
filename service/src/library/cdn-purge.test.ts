// Tests which changes of an asset a CDN is told about (contract B5).
import { expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { openMemoryStore } from '../lifecycle/memory-store.fixture.ts';
import { editAsset, revokePlayback } from './asset-edits.ts';
import { toCdnPurges } from './cdn-purge.ts';
import { createLibraryContext } from './context.fixture.ts';
import type { LibraryContext } from './context.ts';
import { deleteAsset } from './trash.ts';

const playing = createVideo({
  visibility: 'public',
  playback_version: 4,
  playback: { kind: 'own', attempt: 1, folder: '1-1' },
});

const contextOf = (lifecycle: Partial<LibraryContext['lifecycle']>, cdnBaseUrl?: string) =>
  createLibraryContext({
    lifecycle,
    settings: { trashDays: 10, countryHeader: undefined, delivery: { cdnBaseUrl, purgeUrl: undefined } },
    view: { playbackBaseUrl: () => 'https://cdn.example.com' },
  });

/** The purges of a change, as reason and playback version. */
async function purgesOf(seen: Asset, change: (ctx: LibraryContext) => Promise<unknown>, hasCdn = true) {
  const { update, decisions } = openMemoryStore(seen, NOW);
  await change(contextOf({ update }, hasCdn ? 'https://cdn.example.com' : undefined));
  return decisions[0]?.jobs.filter(({ name }) => name === 'purge-cdn').map(({ payload }) => payload);
}

const edit = (changed: object) => (ctx: LibraryContext) =>
  editAsset(ctx, playing, { edit: changed, ifMatch: undefined, actorData: {} });
const revoke = (ctx: LibraryContext) => revokePlayback(ctx, playing, {});
const remove = (isPermanent: boolean) => (ctx: LibraryContext) =>
  deleteAsset(ctx, playing, { isPermanent, ifMatch: undefined, actorData: {} });

test('it purges the files of an asset that is deleted, made private or revoked', async () => {
  const prefix = `https://cdn.example.com/api/v1/playback/${playing.id}/`;
  const purge = { assetId: playing.id, playbackVersion: 5, prefix };
  for (const [change, reason] of [
    [remove(true), 'deleted'],
    [remove(false), 'deleted'],
    [edit({ visibility: 'private' }), 'made_private'],
    [edit({ access: { networks: ['10.0.0.0/8'] } }), 'access_restricted'],
    [revoke, 'revoked'],
  ] as const)
    expect(await purgesOf(playing, change), reason).toEqual([{ ...purge, reason }]);
});

test('it waits until no process serves the old state any more', () => {
  const [job] = toCdnPurges(contextOf({}, 'https://cdn.example.com'), playing, {
    reason: 'revoked',
    now: NOW,
  });
  expect((job?.startAfter?.getTime() ?? 0) - NOW.getTime()).toBeGreaterThan(1000);
});

test('it purges nothing else', async () => {
  expect(await purgesOf(playing, edit({ title: 'New' }))).toEqual([]);
  expect(await purgesOf(playing, edit({ visibility: 'public' }))).toEqual([]);
  expect(await purgesOf(playing, edit({ access: { downloads: false } }))).toEqual([]);
  const restricted = { ...playing, access: { networks: ['10.0.0.0/8'] } };
  expect(await purgesOf(restricted, edit({ access: { networks: ['192.0.2.0/24'] } }))).toEqual([]);
  expect(await purgesOf({ ...playing, playback: null }, revoke)).toEqual([]);
  expect(await purgesOf({ ...playing, deleted_at: NOW, purge_at: NOW }, remove(true))).toEqual([]);
  expect(await purgesOf(playing, revoke, false)).toEqual([]);
});

test('a revocation raises the playback version alone, and is an event', async () => {
  const { update, decisions } = openMemoryStore(playing, NOW);
  await revokePlayback(contextOf({ update }), playing, { user: 'ann' });
  expect(decisions).toEqual([
    {
      set: { playback_version: 5 },
      events: [{ type: 'asset.updated', data: { user: 'ann', fields: [], reason: 'playback_revoked' } }],
      jobs: [],
    },
  ]);
  await expect(purgesOf({ ...playing, deleted_at: NOW }, revoke)).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});
