// Tests that progress never falls from phase to phase, and that renditions become ready one phase at a time.
import { describe, expect, test } from 'vitest';
import { planPhases } from './encode-phases.ts';
import { percentOf, renditionsOf } from './encode-progress.ts';
import { chooseLadder } from './ladder.ts';

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
});
