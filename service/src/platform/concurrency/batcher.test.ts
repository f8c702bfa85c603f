// Tests that concurrent items share a batch, and that an invalid item fails alone.
import { expect, test } from 'vitest';
import { createBatcher } from './batcher.ts';
import { unavailable } from '../http/errors.ts';

function counted(answer: (item: number) => number = (item) => item * 10) {
  const batches: number[][] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const work = async (items: readonly number[]) => {
    batches.push([...items]);
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    return items.map(answer);
  };
  return { batches, work, letGo: (n: number) => gates[n]?.resolve() };
}

const turn = () =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });

test('concurrent items share a batch, and each gets its own result', async () => {
  const { batches, work, letGo } = counted();
  const join = createBatcher(work, { concurrency: 2, maxItems: 10 });
  const results = Promise.all([3, 1, 2].map((item) => join(item)));
  await turn();
  letGo(0);
  expect(await results).toEqual([30, 10, 20]);
  expect(batches).toEqual([[3, 1, 2]]);
});

test('items above the concurrency limit wait for the next batch, up to the maximum batch size', async () => {
  const { batches, work, letGo } = counted();
  const join = createBatcher(work, { concurrency: 1, maxItems: 2 });
  const first = join(1);
  await turn();
  const rest = Promise.all([2, 3, 4].map((item) => join(item)));
  await turn();
  expect(batches).toEqual([[1]]);
  letGo(0);
  expect(await first).toBe(10);
  await turn();
  letGo(1);
  await turn();
  letGo(2);
  expect(await rest).toEqual([20, 30, 40]);
  expect(batches).toEqual([[1], [2, 3], [4]]);
});

test('the weight limits the batch size, and an item above the limit is sent alone', async () => {
  const batches: number[][] = [];
  const join = createBatcher(
    async (items: readonly number[]) => {
      batches.push([...items]);
      return items;
    },
    { concurrency: 1, maxItems: 3, weightOf: (item) => item, maxWeight: 10 },
  );
  await Promise.all([4, 5, 2, 50, 1, 1, 1, 1].map((item) => join(item)));
  expect(batches).toEqual([[4, 5], [2], [50], [1, 1, 1], [1]]);
});

test('an invalid item fails alone', async () => {
  const join = createBatcher(
    async (items: readonly number[]) => {
      if (items.includes(2)) throw new Error('two is wrong');
      return items;
    },
    { concurrency: 2, maxItems: 10 },
  );
  const results = await Promise.allSettled([1, 2, 3].map((item) => join(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('UNAVAILABLE is not retried for each item', async () => {
  let asked = 0;
  const join = createBatcher(
    async () => {
      asked += 1;
      throw unavailable('down');
    },
    { concurrency: 2, maxItems: 10 },
  );
  const results = await Promise.allSettled([1, 2, 3].map((item) => join(item)));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(asked).toBe(1);
});

test('UNAVAILABLE also fails the waiting items, and later items start a new batch', async () => {
  const asked: number[] = [];
  const gate = Promise.withResolvers<void>();
  const join = createBatcher(
    async (items: readonly number[]) => {
      asked.push(...items);
      if (items.includes(1)) {
        await gate.promise;
        throw unavailable('down');
      }
      return items;
    },
    { concurrency: 1, maxItems: 10 },
  );
  const first = join(1);
  await turn();
  const behind = Promise.allSettled([first, join(2), join(3)]);
  await turn();
  gate.resolve();
  expect((await behind).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await join(4)).toBe(4);
  expect(asked).toEqual([1, 4]);
});
