// What comes at once travels together, and nobody suffers for another's fault.
import { expect, test } from 'vitest';
import { createBatcher } from './batcher.ts';
import { unavailable } from '../errors.ts';

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

test('pieces of one moment share a batch, and each gets its own result', async () => {
  const { batches, work, letGo } = counted();
  const join = createBatcher(work, { atOnce: 2, most: 10 });
  const results = Promise.all([3, 1, 2].map((item) => join(item)));
  await turn();
  letGo(0);
  expect(await results).toEqual([30, 10, 20]);
  expect(batches).toEqual([[3, 1, 2]]);
});

test('what comes while enough batches are under way waits for the next, in pieces of the limit', async () => {
  const { batches, work, letGo } = counted();
  const join = createBatcher(work, { atOnce: 1, most: 2 });
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

test('heavy pieces travel in smaller company, the heaviest alone', async () => {
  const batches: number[][] = [];
  const join = createBatcher(
    async (items: readonly number[]) => {
      batches.push([...items]);
      return items;
    },
    { atOnce: 1, most: 3, weigh: (item) => item, heaviest: 10 },
  );
  await Promise.all([4, 5, 2, 50, 1, 1, 1, 1].map((item) => join(item)));
  expect(batches).toEqual([[4, 5], [2], [50], [1, 1, 1], [1]]);
});

test('a piece that cannot be done fails alone', async () => {
  const join = createBatcher(
    async (items: readonly number[]) => {
      if (items.includes(2)) throw new Error('two is wrong');
      return items;
    },
    { atOnce: 2, most: 10 },
  );
  const results = await Promise.allSettled([1, 2, 3].map((item) => join(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a database that cannot be reached is not asked again for each piece', async () => {
  let asked = 0;
  const join = createBatcher(
    async () => {
      asked += 1;
      throw unavailable('down');
    },
    { atOnce: 2, most: 10 },
  );
  const results = await Promise.allSettled([1, 2, 3].map((item) => join(item)));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(asked).toBe(1);
});

test('those who wait behind a database that cannot be reached are told at once, and those who come later ask anew', async () => {
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
    { atOnce: 1, most: 10 },
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
