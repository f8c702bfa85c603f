// Tests that work starts only while the disk has space for all that runs.
import { beforeEach, expect, test } from 'vitest';
import { diskFull } from '../disk/free-space.ts';
import { openScratchReservations, type ScratchReservations } from './scratch-reservations.ts';

let free: number;
/** Bytes in the folders of killed processes. */
let abandoned: number;
let reservations: ScratchReservations;
beforeEach(() => {
  [free, abandoned] = [100, 0];
  reservations = openScratchReservations({
    minFreeBytes: 10,
    freeBytes: async () => free,
    deleteAbandoned: async () => {
      free += abandoned;
      abandoned = 0;
    },
  });
});

/** Work that runs until `end` is called. */
function start(bytes: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { result: reservations.runWithin(bytes, () => promise), end: resolve };
}

const tryNow = (bytes: number) => reservations.runWithin(bytes, async () => {});

test('the reserve stays free', async () => {
  expect(await tryNow(90)).toBeUndefined();
  expect(await tryNow(91)).toBe(90);
});

test('running work counts with all that it may need, until it ends or fails', async () => {
  const first = start(60);
  expect(await tryNow(31)).toBe(30);
  expect(await tryNow(30)).toBeUndefined();
  first.end();
  await first.result;
  await expect(reservations.runWithin(60, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await tryNow(90)).toBeUndefined();
});

test('work that finds the disk full gives its space back, and is told how much there is', async () => {
  const full = () => Promise.reject(diskFull('scratch folder'));
  expect(await reservations.runWithin(60, full)).toBe(90);
  expect(await tryNow(90)).toBeUndefined();
});

test('work that waits for other work does not keep it from starting', async () => {
  const idle = start(60);
  free = 50;
  expect(await tryNow(40)).toBe(0);
  expect(await reservations.runWithin(41, async () => {}, 60)).toBe(40);
  expect(await reservations.runWithin(40, async () => {}, 60)).toBeUndefined();
  idle.end();
  await idle.result;
});

test('of two that start at the same time and do not fit together, one starts', async () => {
  const [first, second] = [start(60), start(60)];
  expect(await second.result).toBe(30);
  first.end();
  expect(await first.result).toBeUndefined();
});

test('the folders of killed processes are deleted before work is refused, and not before', async () => {
  abandoned = 30;
  expect(await tryNow(90)).toBeUndefined();
  expect(abandoned).toBe(30);
  expect(await tryNow(110)).toBeUndefined();
  expect(abandoned).toBe(0);
});

test('work that needs nothing starts on a full disk', async () => {
  free = 0;
  expect(await tryNow(0)).toBeUndefined();
});
