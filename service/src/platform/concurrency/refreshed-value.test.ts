// Tests a value that is loaded again when it is old.
import { describe, expect, test } from 'vitest';
import { createRefreshedValue } from './refreshed-value.ts';

/** A source whose loads the test answers one by one. */
function createSource() {
  const loads: PromiseWithResolvers<string>[] = [];
  const failures: unknown[] = [];
  let now = 0;
  const refreshed = createRefreshedValue({
    load: () => {
      const pending = Promise.withResolvers<string>();
      loads.push(pending);
      return pending.promise;
    },
    onError: (error) => failures.push(error),
    now: () => now,
    maxAgeMs: 1000,
    maxStaleMs: 5000,
    cooldownMs: 100,
  });
  return {
    ...refreshed,
    failures,
    count: () => loads.length,
    pass: (ms: number) => {
      now += ms;
    },
    succeed: (value: string) => loads.at(-1)?.resolve(value),
    fail: () => loads.at(-1)?.reject(new Error('down')),
  };
}

async function createLoaded() {
  const source = createSource();
  const first = source.get();
  source.succeed('first');
  await first;
  return source;
}

/** Lets the loads that have settled take effect. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a refreshed value', () => {
  test('is loaded once for all that wait for it', async () => {
    const source = createSource();
    const waiting = [source.get(), source.get(), source.refresh().then(({ value }) => value)];
    source.succeed('first');
    expect(await Promise.all(waiting)).toEqual(['first', 'first', 'first']);
    expect(await source.get()).toBe('first');
    expect(source.count()).toBe(1);
  });

  test('is loaded again in the background when it is old, and nobody waits', async () => {
    const source = await createLoaded();
    source.pass(999);
    await source.get();
    expect(source.count()).toBe(1);
    source.pass(1);
    expect(await source.get()).toBe('first');
    expect(source.count()).toBe(2);
    source.succeed('second');
    await settle();
    expect(await source.get()).toBe('second');
  });

  test('is kept while its source fails, but not for ever', async () => {
    const source = await createLoaded();
    source.pass(4999);
    expect(await source.get()).toBe('first');
    source.fail();
    await settle();
    expect(await source.get()).toBe('first');
    expect(source.count()).toBe(2);
    source.pass(1);
    expect(await source.get()).toBeUndefined();
    expect(source.failures).toHaveLength(1);
  });

  test('is loaded again after the cooldown when the first load failed', async () => {
    const source = createSource();
    const first = source.get();
    source.fail();
    expect(await first).toBeUndefined();
    source.pass(99);
    expect(await source.get()).toBeUndefined();
    expect(source.count()).toBe(1);
    source.pass(1);
    const second = source.get();
    source.succeed('second');
    expect(await second).toBe('second');
  });
});

describe('a refresh', () => {
  test('loads at once, then only after the cooldown', async () => {
    const source = await createLoaded();
    const refreshed = source.refresh();
    source.succeed('second');
    expect(await refreshed).toEqual({ value: 'second', isCurrent: true });
    source.pass(99);
    expect(await source.refresh()).toEqual({ value: 'second', isCurrent: true });
    expect(source.count()).toBe(2);
    source.pass(1);
    const again = source.refresh();
    source.succeed('third');
    expect(await again).toEqual({ value: 'third', isCurrent: true });
  });

  test('that fails keeps the value, and says that it may be outdated', async () => {
    const source = await createLoaded();
    const refreshed = source.refresh();
    source.fail();
    expect(await refreshed).toEqual({ value: 'first', isCurrent: false });
    source.pass(99);
    expect(await source.refresh()).toEqual({ value: 'first', isCurrent: false });
    expect(source.count()).toBe(2);
    source.pass(1);
    const again = source.refresh();
    source.succeed('second');
    expect(await again).toEqual({ value: 'second', isCurrent: true });
  });
});
