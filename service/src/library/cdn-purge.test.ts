// Tests which changes of an asset a CDN is told about (contract B5).
import { expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { openMemoryStore } from '../lifecycle/memory-store.fixture.ts';
import type { Database } from '../platform/postgres/database.ts';
import { editAsset, revokePlayback } from './asset-edits.ts';
import { cdnPurges } from './cdn-purge.ts';
import { deleteAsset } from './trash.ts';

const playing = createVideo({
  visibility: 'public',
  playback_version: 4,
  playback: { kind: 'own', attempt: 1, folder: '1-1' },
});

type Needs = Parameters<typeof editAsset>[0] & Parameters<typeof deleteAsset>[0];

/** The purges of a change, as reason and playback version. */
async function purgesOf(seen: Asset, change: (needs: Needs) => Promise<unknown>, hasCdn = true) {
  const { update, decisions } = openMemoryStore(seen, NOW);
  await change({
    update,
    isHosted: () => false,
    canSign: () => true,
    db: undefined as unknown as Database,
    databaseNow: async () => NOW,
    trashDays: 10,
    jobs: { hasOpenJob: async () => false },
    startJob: () => undefined,
    requestPurges: cdnPurges({ hasCdn, playbackBaseUrl: () => 'https://cdn.example.com' }),
  });
  return decisions[0]?.jobs.filter(({ name }) => name === 'purge-cdn').map(({ payload }) => payload);
}

const edit = (changed: object) => (needs: Needs) =>
  editAsset(needs, playing, { edit: changed, ifMatch: undefined, actorData: {} });
const revoke = (needs: Needs) => revokePlayback(needs, playing, {});
const remove = (isPermanent: boolean) => (needs: Needs) =>
  deleteAsset(needs, playing, { isPermanent, ifMatch: undefined, actorData: {} });

test('it purges the files of an asset that is deleted, made private or revoked', async () => {
  const prefix = `https://cdn.example.com/api/v1/playback/${playing.id}/`;
  const purge = { assetId: playing.id, playbackVersion: 5, prefix };
  for (const [change, reason] of [
    [remove(true), 'deleted'],
    [remove(false), 'deleted'],
    [edit({ visibility: 'private' }), 'made_private'],
    [revoke, 'revoked'],
  ] as const)
    expect(await purgesOf(playing, change), reason).toEqual([{ ...purge, reason }]);
});

test('it waits until no process serves the old state any more', () => {
  const request = cdnPurges({ hasCdn: true, playbackBaseUrl: () => 'https://cdn.example.com' });
  const [job] = request(playing, { reason: 'revoked', now: NOW });
  expect((job?.startAfter?.getTime() ?? 0) - NOW.getTime()).toBeGreaterThan(1000);
});

test('it purges nothing else', async () => {
  expect(await purgesOf(playing, edit({ title: 'New' }))).toEqual([]);
  expect(await purgesOf(playing, edit({ visibility: 'public' }))).toEqual([]);
  expect(await purgesOf({ ...playing, playback: null }, revoke)).toEqual([]);
  expect(await purgesOf({ ...playing, deleted_at: NOW, purge_at: NOW }, remove(true))).toEqual([]);
  expect(await purgesOf(playing, revoke, false)).toEqual([]);
});

test('a revocation raises the playback version alone, and is an event', async () => {
  const { update, decisions } = openMemoryStore(playing, NOW);
  await revokePlayback(
    { update, isHosted: () => false, canSign: () => true, requestPurges: () => [] },
    playing,
    {
      user: 'ann',
    },
  );
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
