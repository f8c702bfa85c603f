// Tests the order, the limit per owner and the timeout of fair slots.
import { describe, expect, test } from 'vitest';
import { openFairSlots } from './fair-slots.ts';

const FOREVER = { perOwner: 2, waitMs: Number.POSITIVE_INFINITY };

/** Runs all pending callbacks. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('fair slots', () => {
  test('limit the items of one owner, so that another owner gets a free one', async () => {
    const slots = openFairSlots(['a', 'b', 'c'], FOREVER);
    const [first, second] = [await slots.acquire('flood'), await slots.acquire('flood')];
    let isThird = false;
    void slots.acquire('flood').then(() => {
      isThird = true;
    });
    await settle();
    expect(isThird).toBe(false);
    expect([first, second]).not.toContain(await slots.acquire('victim'));
    slots.release('flood', first);
    await settle();
    expect(isThird).toBe(true);
  });

  test('serve waiting owners round-robin, regardless of their number of requests', async () => {
    const slots = openFairSlots(['only'], FOREVER);
    await slots.acquire('first');
    const served: string[] = [];
    const ask = (owner: string) => slots.acquire(owner).then(() => served.push(owner));
    for (const owner of ['flood', 'flood', 'flood', 'victim', 'other']) void ask(owner);
    for (const holder of ['first', 'flood', 'victim', 'other', 'flood']) {
      slots.release(holder, 'only');
      await settle();
    }
    expect(served).toEqual(['flood', 'victim', 'other', 'flood', 'flood']);
  });

  test('reuse the most recently released item first', async () => {
    const slots = openFairSlots(['cold', 'warm'], FOREVER);
    const warm = await slots.acquire('ann');
    slots.release('ann', warm);
    expect(await slots.acquire('bob')).toBe(warm);
  });

  test('reject with UNAVAILABLE after the timeout, and serve the next owner', async () => {
    const slots = openFairSlots(['only'], { perOwner: 1, waitMs: 20 });
    await slots.acquire('ann');
    await expect(slots.acquire('bob')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { reason: 'busy' },
      retryAfterSeconds: 2,
    });
    slots.release('ann', 'only');
    expect(await slots.acquire('bob')).toBe('only');
  });
});
