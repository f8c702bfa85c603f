// Work that several ask for at once.
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

test('is done once for all who wait, and again for who comes later', async () => {
  const fly = createSingleFlight({ most: 1 });
  const { work, open, runs } = gate();
  const all = [fly('a', work), fly('a', work), fly('a', work)];
  expect(runs()).toBe(1);
  open();
  await Promise.all(all);
  await fly('a', work);
  expect(runs()).toBe(2);
});

test('is refused where too much is under way, and taken again when there is room', async () => {
  const fly = createSingleFlight({ most: 2 });
  const { work, open } = gate();
  const busy = [fly('a', work), fly('b', work)];
  await expect(fly('c', work)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const shared = fly('a', work);
  open();
  await Promise.all([...busy, shared]);
  await expect(fly('c', work)).resolves.toBeUndefined();
});

test('that fails, fails for all who wait, and is tried anew for the next', async () => {
  const fly = createSingleFlight({ most: 1 });
  const fails = () => Promise.reject(new Error('no'));
  await Promise.all([fly('a', fails), fly('a', fails)].map((flight) => expect(flight).rejects.toThrow('no')));
  await expect(fly('a', async () => {})).resolves.toBeUndefined();
});
