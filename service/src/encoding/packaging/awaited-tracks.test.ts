// Tests what early players are told about renditions that are not encoded yet.
import { expect, test } from 'vitest';
import { planPhases } from '../plan/ladder/encode-phases.ts';
import { chooseLadder, DEFAULT_LADDER } from '../plan/ladder/ladder.ts';
import { awaitedTracks } from './awaited-tracks.ts';

const phasesOf = (size: { width: number; height: number }, copyUse?: 'keep' | 'replace') => {
  const rungs = chooseLadder(size, { ladder: { ...DEFAULT_LADDER, maxHeight: 2160, extraCodecs: ['av1'] } });
  return planPhases({ rungs, copyUse, audioTracks: 1, durationSeconds: 60 }).phases;
};

// As x264 writes them for these sizes.
test.each([
  [{ width: 1280, height: 720 }, 30, ['avc1.64001f', 'avc1.4d401f', 'avc1.4d401e']],
  [{ width: 1920, height: 1080 }, 30, ['avc1.640028', 'avc1.64001f', 'avc1.4d401f', 'avc1.4d401e']],
  [{ width: 640, height: 360 }, 60, ['avc1.4d401f']],
])('%j at %d frames per second', (size, framesPerSecond, codecs) => {
  const later = phasesOf(size).slice(1);
  const tracks = awaitedTracks(later, { numerator: framesPerSecond, denominator: 1 });
  expect(tracks.map(({ codec }) => codec)).toEqual(codecs);
  expect(tracks[0]?.size).toEqual(size);
  expect(tracks.map(({ id }) => id)).toEqual(codecs.map((_, id) => id));
});

test('a kept copy is not awaited, a replaced one has its whole ladder awaited', () => {
  const size = { width: 640, height: 360 };
  const heights = (copyUse: 'keep' | 'replace') =>
    awaitedTracks(phasesOf(size, copyUse).slice(1), { numerator: 30, denominator: 1 }).map(
      (track) => track.size.height,
    );
  expect(heights('keep')).toEqual([240]);
  expect(heights('replace')).toEqual([360, 240]);
});

test('the largest pictures have a level too', () => {
  const later = phasesOf({ width: 5184, height: 2160 }).slice(1);
  expect(awaitedTracks(later, { numerator: 60, denominator: 1 })[0]?.codec).toBe('avc1.640034');
});
