// Tests that progress never falls from phase to phase, and that renditions become ready one phase at a time.
import { describe, expect, test } from 'vitest';
import { planPhases } from './encode-phases.ts';
import { percentOf, renditionsOf } from './encode-progress.ts';
import { chooseLadder, DEFAULT_LADDER } from './ladder.ts';

const rungs = chooseLadder({ width: 1280, height: 720 });
const { phases } = planPhases({ rungs, copyUse: undefined, audioTracks: 1, durationSeconds: 60 });

describe('the progress of an encode', () => {
  test('rises from 0 to 99, slowly in the phase with the most pixels', () => {
    const steps = [0, 1].flatMap((phase) =>
      [0, 0.5, 1, 1.2].map((part) => percentOf({ phases, phase, part })),
    );
    expect(steps[0]).toBe(0);
    expect(steps.at(-1)).toBe(99);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(percentOf({ phases, phase: 0, part: 1 })).toBeLessThan(20);
  });
  test('names the state of each rendition', () => {
    const lowest = rungs.length - 1;
    const track = {
      id: lowest,
      timescale: 1,
      codec: 'avc1.4d401e',
      size: { width: 640, height: 360 },
      segments: [{ name: 'a', start: 0, duration: 4, bytes: 1000 }],
    };
    const statesAt = (tracks: (typeof track)[], current: number) =>
      renditionsOf({ rungs, tracks, current: phases[current] }).map(({ state }) => state);
    expect(statesAt([], 0)).toEqual([...rungs.slice(1).map(() => 'queued'), 'encoding']);
    expect(statesAt([track], 1)).toEqual([...rungs.slice(1).map(() => 'encoding'), 'ready']);
    expect(renditionsOf({ rungs, tracks: [track], current: undefined }).at(-1)).toMatchObject({
      bitrate: 2000,
    });
  });
  test('of a further codec takes its larger share of the time, and its renditions can fail', () => {
    const ladder = { ...DEFAULT_LADDER, extraCodecs: ['av1'] as const };
    const all = chooseLadder({ width: 320, height: 240 }, { ladder });
    const planned = planPhases({ rungs: all, copyUse: undefined, audioTracks: 1, durationSeconds: 5 });
    expect(percentOf({ phases: planned.phases, phase: 1, part: 0 })).toBe(28);
    const [main, av1] = renditionsOf({ rungs: all, tracks: [], current: planned.phases[0] });
    expect([main?.codec, main?.state, av1?.codec, av1?.state]).toEqual([
      undefined,
      'encoding',
      'av1',
      'queued',
    ]);
    expect(renditionsOf({ rungs: all, tracks: [], current: undefined })[1]).toMatchObject({
      codec: 'av1',
      state: 'failed',
    });
  });
  test('tells renditions in HDR from those in SDR of the same codec', () => {
    const ladder = { ...DEFAULT_LADDER, extraCodecs: ['hevc'] as const, hdrCodecs: ['hevc'] as const };
    const all = chooseLadder({ width: 320, height: 240 }, { ladder, source: { hdrRange: 'pq' } });
    const planned = planPhases({ rungs: all, copyUse: undefined, audioTracks: 1, durationSeconds: 5 });
    const named = { width: 320, height: 240, codec: 'hevc', bitrate: null };
    expect(renditionsOf({ rungs: all, tracks: [], current: planned.phases[2] }).slice(1)).toEqual([
      { ...named, state: 'queued' },
      { ...named, dynamic_range: 'pq', state: 'encoding' },
    ]);
  });
});
