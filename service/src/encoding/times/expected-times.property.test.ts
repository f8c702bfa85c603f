// Properties of estimates: they grow with the work, learn the speed, and are never in the past.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ENCODE_JOBS } from '../encode-jobs.ts';
import { DEFAULT_LADDER } from '../plan/ladder/ladder.ts';
import { estimateWork } from './encode-work.ts';
import { estimate, learnSpeed } from './learned-speed.ts';
import { findDelayReason, type OpenEncode, placeEncodes, placeLast } from './queue-places.ts';
import { estimateHosted, statedTimes } from './stated-times.ts';

const positive = fc.integer({ min: 1, max: 10_000_000 });
const samples = fc.array(fc.record({ work: positive, ms: positive }), { maxLength: 80 });
const video = fc.record({
  kind: fc.constantFrom('video' as const, 'audio' as const),
  duration_ms: fc.integer({ min: 1000, max: 10_000_000 }),
  width: fc.integer({ min: 2, max: 4096 }),
  height: fc.integer({ min: 2, max: 4096 }),
  media: fc.constant(null),
});

test('a longer video is more work, and its first rendition is a part of it', () => {
  fc.assert(
    fc.property(video, (source) => {
      const work = estimateWork(source, DEFAULT_LADDER);
      const longer = estimateWork({ ...source, duration_ms: source.duration_ms * 2 }, DEFAULT_LADDER);
      expect(work.first).toBeGreaterThan(0);
      expect(work.first).toBeLessThanOrEqual(work.total);
      expect(longer.total).toBeGreaterThan(work.total);
    }),
  );
});

test('more work takes longer, whatever was learned, and the range contains the expected time', () => {
  fc.assert(
    fc.property(samples, positive, positive, (learned, work, more) => {
      const model = learnSpeed(learned);
      const [short, long] = [estimate(model, work), estimate(model, work + more)];
      expect(short.earliestMs).toBeGreaterThan(0);
      expect(short.earliestMs).toBeLessThanOrEqual(short.expectedMs);
      expect(short.expectedMs).toBeLessThanOrEqual(short.latestMs);
      expect(long.expectedMs).toBeGreaterThan(short.expectedMs);
      expect(long.latestMs).toBeGreaterThan(short.latestMs);
    }),
  );
});

test('the speed of regular encodes is learned', () => {
  const learned = Array.from({ length: 40 }, (_, at) => ({
    work: 100 * (at + 1),
    ms: 1000 + 500 * (at + 1),
  }));
  const { earliestMs, expectedMs, latestMs } = estimate(learnSpeed(learned), 2000);
  expect(expectedMs).toBeCloseTo(11_000, -2);
  expect(latestMs / earliestMs).toBeLessThan(1.05);
});

test('without samples the range is wide', () => {
  const { earliestMs, latestMs } = estimate(learnSpeed([]), 1000);
  expect(latestMs / earliestMs).toBeGreaterThan(10);
});

const encode: fc.Arbitrary<Omit<OpenEncode, 'assetId'>> = fc.record({
  queue: fc.constantFrom(...ENCODE_JOBS),
  isRunning: fc.boolean(),
  progress: fc.integer({ min: 0, max: 99 }),
  work: fc.record({ first: fc.nat(1000), total: fc.integer({ min: 1000, max: 100_000 }) }),
});
/** Running encodes come first, as the queue is read. */
const queue = fc
  .array(encode, { maxLength: 30 })
  .map((encodes) =>
    encodes
      .toSorted((a, b) => Number(b.isRunning) - Number(a.isRunning))
      .map((each, at) => ({ ...each, assetId: String(at) })),
  );

test('positions count the waiting encodes of each queue', () => {
  fc.assert(
    fc.property(queue, fc.integer({ min: 1, max: 8 }), (open, slots) => {
      const { byAsset } = placeEncodes(open, slots);
      for (const name of ENCODE_JOBS) {
        const positions = open
          .filter((each) => each.queue === name && !each.isRunning)
          .map(({ assetId }) => byAsset.get(assetId)?.position);
        expect(positions).toEqual(positions.map((_, at) => at + 1));
      }
      for (const { assetId, isRunning } of open)
        if (isRunning) expect(byAsset.get(assetId)).toMatchObject({ position: 0 });
    }),
  );
});

test('who waits longer in a queue is ready later, and the last place is behind all', () => {
  fc.assert(
    fc.property(queue, fc.integer({ min: 1, max: 8 }), (open, slots) => {
      const { byAsset, ends } = placeEncodes(open, slots);
      const waiting = open.filter((each) => each.queue === 'encode-asset' && !each.isRunning);
      const own = { first: 10, total: 1000 };
      const equal = waiting.map(({ assetId, work }) => (byAsset.get(assetId)?.readyWork ?? 0) - work.total);
      const last = placeLast(ends.short, own, slots);
      expect(last.position).toBe(waiting.length + 1);
      for (const ahead of equal) expect(ahead).toBeLessThanOrEqual(last.readyWork - own.total + 1e-6);
    }),
  );
});

test('more slots never make an encode later', () => {
  fc.assert(
    fc.property(queue, fc.integer({ min: 1, max: 8 }), (open, slots) => {
      const [few, many] = [placeEncodes(open, slots), placeEncodes(open, slots + 1)];
      for (const [id, { readyWork, playableWork }] of few.byAsset) {
        expect(many.byAsset.get(id)?.readyWork).toBeLessThanOrEqual(readyWork);
        expect(many.byAsset.get(id)?.playableWork).toBeLessThanOrEqual(playableWork);
      }
    }),
  );
});

const distance = fc.integer({ min: 0, max: 100_000_000 });
const moments = fc.record({
  readAtMs: fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
  sinceMs: fc.integer({ min: 0, max: 60_000 }),
  parts: fc.tuple(distance, distance, distance, distance),
});

test('no stated time is in the past, and they are in order', () => {
  fc.assert(
    fc.property(moments, ({ readAtMs, sinceMs, parts }) => {
      const [first = 0, earliestMs = 0, expectedMs = 0, latestMs = 0] = parts.toSorted((a, b) => a - b);
      const nowMs = readAtMs + sinceMs;
      const stated = statedTimes({
        readAtMs,
        nowMs,
        playable: { earliestMs: first, expectedMs: first, latestMs: first },
        ready: { earliestMs, expectedMs, latestMs },
        position: 3,
      });
      const at = (text: string | null | undefined) => Date.parse(text ?? '');
      const ready = at(stated.expected_ready_at);
      expect(at(stated.expected_playable_at)).toBeGreaterThan(nowMs);
      expect(at(stated.expected_playable_at)).toBeLessThanOrEqual(ready);
      expect(at(stated.expected_ready_range?.earliest_at)).toBeLessThanOrEqual(ready);
      expect(at(stated.expected_ready_range?.latest_at)).toBeGreaterThanOrEqual(ready);
    }),
  );
});

test('a provider that has done a quarter in a minute needs three more', () => {
  expect(estimateHosted({ progress: 25, elapsedMs: 60_000 })).toMatchObject({ expectedMs: 180_000 });
  expect(estimateHosted({ progress: 1, elapsedMs: 60_000 })).toBeUndefined();
  expect(estimateHosted({ progress: 50, elapsedMs: 0 })).toBeUndefined();
});

test('the reason of a delay is what holds the encode up', () => {
  const facts = { slots: 2, isDiskFull: false, runs: 1 };
  const [running, waiting] = [{ isRunning: true }, { isRunning: false }];
  expect(findDelayReason(running, facts)).toBe('encoding_slow');
  expect(findDelayReason(running, { ...facts, runs: 2 })).toBe('encode_restarted');
  expect(findDelayReason(waiting, facts)).toBe('waiting_for_slot');
  expect(findDelayReason(waiting, { ...facts, slots: 0 })).toBe('no_worker');
  expect(findDelayReason(waiting, { ...facts, isDiskFull: true })).toBe('disk_full');
});
