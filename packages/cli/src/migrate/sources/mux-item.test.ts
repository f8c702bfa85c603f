// Assets of the Mux API as items.
import { expect, test } from 'vitest';
import { type MuxAsset, toMuxItem } from './mux-item.ts';

const asset: MuxAsset = {
  id: 'mux-1',
  created_at: '1714979289',
  status: 'ready',
  duration: 61.4,
  passthrough: 'order-1042',
  meta: { title: 'Holiday', creator_id: 'user-7', external_id: 'film-1' },
  playback_ids: [
    { id: 'signed-1', policy: 'signed' },
    { id: 'public-1', policy: 'public' },
  ],
  tracks: [{ id: 't1', type: 'video' }],
};

test('a ready asset keeps title, passthrough and ids', () => {
  expect(toMuxItem(asset)).toMatchObject({
    id: 'mux-1',
    title: 'Holiday',
    group: 'user-7',
    createdAt: '2024-05-06T07:08:09.000Z',
    durationMs: 61_400,
    visibility: 'public',
    metadata: { passthrough: 'order-1042', creator_id: 'user-7', external_id: 'film-1' },
    problem: null,
    notes: [],
  });
});

test('an asset without a public playback id is private, and its captions stay', () => {
  const tracks = [{ id: 't2', type: 'text' }];
  const item = toMuxItem({ ...asset, playback_ids: [{ id: 'd', policy: 'drm' }], tracks });
  expect(item.visibility).toBe('private');
  expect(item.notes).toEqual([expect.stringContaining('captions are not moved')]);
});

test.each([
  [{ status: 'errored', errors: { messages: ['No video.'] } }, 'The asset failed at the source: No video.'],
  [{ status: 'preparing' }, 'The asset is not ready at the source: preparing.'],
  [{ is_live: true }, 'The asset is a live stream that has not ended.'],
])('an asset with %j cannot be moved', (changes, problem) => {
  expect(toMuxItem({ ...asset, ...changes }).problem).toBe(problem);
});
