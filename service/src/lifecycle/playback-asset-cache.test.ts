// Tests that a change in any process ends the cached state of an asset, before its second is over.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { PlaybackAsset } from '../assets/asset.ts';
import { createVideo } from './asset.fixture.ts';
import { createPlaybackAssetCache } from './playback-asset-cache.ts';

// The time stands still.
beforeAll(() => {
  vi.useFakeTimers();
});
afterAll(() => {
  vi.useRealTimers();
});

function open() {
  const state = { asset: createVideo({ visibility: 'public' }) as PlaybackAsset };
  const listeners: ((id: string | undefined) => void)[] = [];
  const assets = createPlaybackAssetCache(async () => state.asset, {
    subscribe: (listener) => {
      listeners.push(listener);
      return () => {};
    },
  });
  const notify = (id: string | undefined) => {
    for (const listener of listeners) listener(id);
  };
  const { id } = state.asset;
  return {
    ...assets,
    id,
    state,
    listeners,
    notify,
    visibility: async () => (await assets.findForPlayback(id))?.visibility,
  };
}

test.each([
  ['by a change in this process', ({ invalidate, id }: ReturnType<typeof open>) => invalidate(id)],
  ['by its notification', ({ notify, id }: ReturnType<typeof open>) => notify(id)],
  [
    'by a reconnect, when notifications may be lost',
    ({ notify }: ReturnType<typeof open>) => notify(undefined),
  ],
])('%s', async (_how, change) => {
  const opened = open();
  expect(await opened.visibility()).toBe('public');
  opened.state.asset = { ...opened.state.asset, visibility: 'private' };
  opened.notify('another-id');
  expect(await opened.visibility()).toBe('public');
  change(opened);
  expect(await opened.visibility()).toBe('private');
});

test('without a notification after a second', async () => {
  const opened = open();
  await opened.visibility();
  opened.state.asset = { ...opened.state.asset, visibility: 'private' };
  vi.advanceTimersByTime(1000);
  expect(await opened.visibility()).toBe('private');
});

test('an id in upper case is the same asset, and the process listens once', async () => {
  const { findForPlayback, id, invalidate, state, listeners } = open();
  expect(listeners).toHaveLength(0);
  await findForPlayback(id.toUpperCase());
  state.asset = { ...state.asset, visibility: 'private' };
  invalidate(id);
  expect((await findForPlayback(id.toUpperCase()))?.visibility).toBe('private');
  expect(listeners).toHaveLength(1);
});
