// Tests which renditions are made first, and that every rendition is made once.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planPhases } from './encode-phases.ts';
import { chooseLadder, DEFAULT_LADDER } from './ladder.ts';

const rungs = chooseLadder({ width: 1920, height: 1080 });
const plan = (change: Partial<Parameters<typeof planPhases>[0]> = {}) =>
  planPhases({ rungs, copyUse: undefined, audioTracks: 1, durationSeconds: 60, ...change });
const outline = ({ phases }: ReturnType<typeof plan>) =>
  phases.map(({ video, trackIds, keyFrames }) => [
    video === 'copy' ? 'copy' : video.map(({ height }) => height),
    trackIds,
    keyFrames,
  ]);

describe('the phases of an encode', () => {
  test('start with the lowest rendition', () => {
    expect(outline(plan())).toEqual([
      [[rungs.at(-1)?.height], [rungs.length - 1, rungs.length], 'grid'],
      [rungs.slice(0, -1).map(({ height }) => height), rungs.slice(1).map((_, id) => id), 'grid'],
    ]);
  });
  test('are one for a very short video and for a single rendition', () => {
    expect(plan({ durationSeconds: 1.9 }).phases).toHaveLength(1);
    expect(plan({ durationSeconds: 2 }).phases).toHaveLength(2);
    expect(plan({ rungs: rungs.slice(-1) }).phases).toHaveLength(1);
  });
  test('start with the copy, which is the top rendition', () => {
    const [first, second] = outline(plan({ copyUse: 'keep' }));
    expect(first).toEqual(['copy', [0, rungs.length], 'source']);
    expect(second).toEqual([
      rungs.slice(1).map(({ height }) => height),
      rungs.slice(1).map((_, at) => at + 1),
      'source',
    ]);
  });
  test('only copy a source that fits the only rung', () => {
    expect(outline(plan({ copyUse: 'keep', rungs: rungs.slice(-1) }))).toEqual([['copy', [0, 1], 'source']]);
  });
  test('encode all rungs when the copy is replaced', () => {
    const replaced = plan({ copyUse: 'replace' });
    expect(replaced.replacedTrack).toBe(rungs.length + 1);
    expect(outline(replaced)[1]).toEqual([
      rungs.map(({ height }) => height),
      rungs.map((_, id) => id),
      'grid',
    ]);
  });
  test.each([
    { copyUse: undefined, keyFrames: 'grid' },
    { copyUse: 'replace', keyFrames: 'grid' },
    { copyUse: 'keep', keyFrames: 'source' },
  ] as const)('end with one for each further codec (copy: $copyUse)', ({ copyUse, keyFrames }) => {
    const ladder = { ...DEFAULT_LADDER, extraCodecs: ['av1', 'hevc'] as const };
    const all = chooseLadder({ width: 640, height: 360 }, { ladder });
    const made = plan({ rungs: all, copyUse });
    expect(outline(made).slice(-2)).toEqual([
      [[360, 240], [100, 101], keyFrames],
      [[360, 240], [200, 201], keyFrames],
    ]);
    expect(made.phases.slice(-2).map(({ hasAudio }) => hasAudio)).toEqual([false, false]);
    expect(made.firstAudioTrack).toBe(2);
    const main = plan({ rungs: all.filter(({ codec }) => codec === 'h264'), copyUse });
    expect(made.phases.slice(0, -2)).toEqual(main.phases);
  });
  test('end with HDR, whose tracks have ids of their own', () => {
    const ladder = {
      ...DEFAULT_LADDER,
      extraCodecs: ['hevc'] as const,
      hdrCodecs: ['av1', 'hevc'] as const,
    };
    const all = chooseLadder({ width: 640, height: 360 }, { ladder, source: { hdrRange: 'hlg' } });
    const { phases } = plan({ rungs: all });
    expect(outline({ ...plan(), phases }).slice(-3)).toEqual([
      [[360, 240], [200, 201], 'grid'],
      [[360, 240], [300, 301], 'grid'],
      [[360, 240], [400, 401], 'grid'],
    ]);
    const ranges = phases.map(({ video }) => (video === 'copy' ? [] : video.map(({ range }) => range)));
    expect(ranges).toEqual([['sdr'], ['sdr'], ['sdr', 'sdr'], ['hlg', 'hlg'], ['hlg', 'hlg']]);
  });
  test('give each track one id, and make audio once', () => {
    fc.assert(
      fc.property(
        fc.record({
          copyUse: fc.constantFrom(undefined, 'keep', 'replace'),
          count: fc.integer({ min: 1, max: rungs.length }),
          audioTracks: fc.integer({ min: 0, max: 4 }),
          durationSeconds: fc.integer({ min: 1, max: 100 }),
        }),
        ({ copyUse, count, audioTracks, durationSeconds }) => {
          const made = plan({ copyUse, rungs: rungs.slice(-count), audioTracks, durationSeconds });
          const ids = made.phases.flatMap(({ trackIds }) => trackIds);
          const extra = copyUse === 'replace' ? 1 : 0;
          expect(ids.toSorted((a, b) => a - b)).toEqual(
            Array.from({ length: count + audioTracks + extra }, (_, id) => id),
          );
          expect(made.phases.filter(({ hasAudio }) => hasAudio)).toHaveLength(Math.min(1, audioTracks));
        },
      ),
    );
  });
});
