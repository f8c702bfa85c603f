// Tests that the reconcile job fails no asset that changed since the job read it, and waits for no provider.
import { expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { createLifecycleContext } from '../lifecycle/context.fixture.ts';
import { openMemoryStore } from '../lifecycle/memory-store.fixture.ts';
import * as commands from '../lifecycle/commands.ts';
import { offer } from '../platform/values/offer.ts';
import { databaseOf } from '../platform/postgres/database.fixture.ts';
import { createUpkeepContext } from './context.fixture.ts';
import { reconcile, reconcileAsset } from './reconcile.ts';

/** What a check decides about an asset of a hosted provider that has no bytes. */
async function decisionsAbout(read: Asset, stored: Asset, isFetched = false) {
  const { update, decisions } = openMemoryStore(stored, NOW);
  const db = databaseOf({ all: () => [] });
  const reports = createLifecycleContext({ db, assets: { update } });
  const ctx = createUpkeepContext({
    db,
    lifecycle: { findAssetById: async () => read, ...offer(reports, commands) },
    providers: {
      isHosted: () => true,
      canInspect: () => true,
      inspectAll: async () => new Map([[read.id, { state: 'waiting' }]]),
    },
    uploads: { isFetched: async () => isFetched },
  });
  await reconcileAsset(ctx, read.id);
  return decisions;
}

const opened = createVideo({ provider: 'cdnhost', reconcile_at: NOW, upload_expires_at: NOW });
const linked = { ...opened, provider_video_id: 'a-video' };
const changed = (asset: Asset, more: Partial<Asset> = {}): Asset => ({
  ...asset,
  ...more,
  revision: asset.revision + 1,
});

test('an asset without a video fails, unless a video was linked meanwhile', async () => {
  expect(await decisionsAbout(opened, opened)).toMatchObject([
    { set: { stream_status: 'failed', failure: { code: 'provider_unavailable' } } },
  ]);
  expect(await decisionsAbout(opened, changed(linked))).toEqual([]);
});

test('an expired upload fails, unless its asset changed meanwhile', async () => {
  expect(await decisionsAbout(linked, linked)).toMatchObject([
    { set: { stream_status: 'failed', failure: { code: 'upload_expired' } } },
  ]);
  const later = new Date(NOW.getTime() + 3_600_000);
  expect(await decisionsAbout(linked, changed(linked, { upload_expires_at: later }))).toEqual([]);
});

test('an asset that waits for a transfer by the service does not expire', async () => {
  expect(await decisionsAbout(linked, linked, true)).toMatchObject([
    { events: [{ type: 'asset.checked', data: { reason: 'no_bytes_yet' } }] },
  ]);
});

test('a provider that does not respond delays only the checks of its own videos', async () => {
  const ids = ['cdnhost', 'edgehost', 'onprem'].map((provider) => ({ ...linked, id: provider, provider }));
  const checked: string[] = [];
  const ctx = createUpkeepContext({
    db: databaseOf({ all: (_text, _values, name) => (name === 'due assets' ? ids : []) }),
    lifecycle: {
      recordCheck: async (asset) => {
        checked.push(asset.id);
        return asset;
      },
      refuseUnchangedAsset: async (asset) => {
        checked.push(asset.id);
        return asset;
      },
    },
    providers: {
      registry: new Map(),
      isHosted: ({ provider }) => provider !== 'onprem',
      canInspect: ({ provider }) => provider !== 'onprem',
      inspectAll: ([asset]) =>
        asset?.provider === 'cdnhost'
          ? new Promise(() => {})
          : Promise.resolve(new Map(asset && [[asset.id, { state: 'waiting' }]])),
    },
    uploads: { isFetched: async () => false },
  });
  void reconcile(ctx);
  await expect.poll(() => checked).toEqual(['onprem', 'edgehost']);
});
