// Tests when the size of a kept copy is encoded too, and where manifests list it.
import { expect, test } from 'vitest';
import type { CmafTrack } from '../../model/cmaf-track.ts';
import { chooseEncodedTop, sortTracks } from './encoded-top.ts';

const track = (id: number, height: number, kilobits: number): CmafTrack => ({
  id,
  timescale: 1000,
  codec: 'avc1.64001f',
  size: { width: height * 2, height },
  segments: [{ name: '', start: 0, duration: 1000, bytes: kilobits * 125 }],
});
const choose = (tracks: readonly CmafTrack[], isDamaged = false) =>
  chooseEncodedTop({ tracks, isDamaged, trackId: 7 });

test.each([
  [4100, { trackId: 7, isInstead: false }],
  [3900, undefined],
])('a copy of %d kbit/s above a quarter of its pixels at 500 kbit/s', (kilobits, expected) =>
  expect(choose([track(0, 720, kilobits), track(1, 360, 500)])).toEqual(expected),
);
test('a copy without a smaller rendition stays alone', () =>
  expect(choose([track(0, 240, 9000)])).toBeUndefined());
test('a damaged copy is replaced', () =>
  expect(choose([track(0, 240, 100)], true)).toEqual({ trackId: 7, isInstead: true }));

test('the encoded size comes behind the copy, before smaller ones', () => {
  const tracks = [track(0, 720, 9), track(1, 360, 9), track(2, 240, 9), track(7, 720, 9)];
  const ids = (top?: { trackId: number; isInstead: boolean }) => sortTracks(tracks, top).map(({ id }) => id);
  expect(ids({ trackId: 7, isInstead: false })).toEqual([0, 7, 1, 2]);
  expect(ids()).toEqual([0, 1, 2, 7]);
});
