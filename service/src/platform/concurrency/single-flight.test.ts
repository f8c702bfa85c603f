// Tests that concurrent requests for one key share one run.
import { expect, test } from 'vitest';
import { createSingleFlight } from './single-flight.ts';

function gate(): {
  readonly work: () => Promise<void>;
  readonly open: () => void;
  readonly runs: () => number;
} {
  const { promise, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  return {
    work: () => {
      runs += 1;
      return promise;
    },
    open: resolve,
    runs: () => runs,
  };
}

test('work runs once for all concurrent callers, and again for a later caller', async () => {
  const fly = createSingleFlight({ maxConcurrent: 1 });
  const { work, open, runs } = gate();
  const all = [fly('a', work), fly('a', work), fly('a', work)];
  expect(runs()).toBe(1);
  open();
  await Promise.all(all);
  await fly('a', work);
  expect(runs()).toBe(2);
});

test('work above the limit is rejected, and accepted again when earlier work ends', async () => {
  const fly = createSingleFlight({ maxConcurrent: 2 });
  const { work, open } = gate();
  const busy = [fly('a', work), fly('b', work)];
  await expect(fly('c', work)).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { reason: 'busy' } });
  const shared = fly('a', work);
  open();
  await Promise.all([...busy, shared]);
  await expect(fly('c', work)).resolves.toBeUndefined();
});

test('failed work fails for all waiting callers, and a later caller starts it again', async () => {
  const fly = createSingleFlight({ maxConcurrent: 1 });
  const fails = () => Promise.reject(new Error('no'));
  await Promise.all([fly('a', fails), fly('a', fails)].map((flight) => expect(flight).rejects.toThrow('no')));
  await expect(fly('a', async () => {})).resolves.toBeUndefined();
});

/** Keys begin with owner and item. Starts their work, ends it, and returns the keys that were refused. */
async function listRefused(fly: ReturnType<typeof createSingleFlight>, keys: readonly string[]) {
  const { work, open } = gate();
  const flights = Promise.allSettled(
    keys.map((key) => fly(key, work, { owner: key.slice(0, 1), item: key.slice(0, 2) })),
  );
  open();
  const refused = (await flights).map(({ status }) => status === 'rejected');
  return keys.filter((_key, n) => refused[n]);
}

test('an owner holds half of the places, and owners without one get the rest', async () => {
  const fly = createSingleFlight({ maxConcurrent: 4 });
  expect(await listRefused(fly, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1'])).toEqual(['a3', 'b2', 'd1']);
});

test('an item holds a quarter of the places, and other items of its owner get another quarter', async () => {
  const fly = createSingleFlight({ maxConcurrent: 8 });
  const keys = ['a1x', 'a1y', 'a1z', 'a2x', 'a3x', 'a4x', 'b1x', 'b1y', 'c1x'];
  expect(await listRefused(fly, keys)).toEqual(['a1z', 'a4x', 'b1y']);
});

test('a shared key takes one place of its owner, and the end of its work frees it', async () => {
  const fly = createSingleFlight({ maxConcurrent: 4 });
  expect(await listRefused(fly, ['a1', 'a1', 'a2', 'a1', 'a3'])).toEqual(['a3']);
  expect(await listRefused(fly, ['a3', 'a4', 'b1', 'c1'])).toEqual([]);
});
