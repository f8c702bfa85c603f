// Who gets a slot next, how many one owner gets, and how long it waits.
import { describe, expect, test } from 'vitest';
import { openFairSlots } from './fair-slots.ts';

const FOREVER = { perOwner: 2, waitMs: Number.POSITIVE_INFINITY };

/** Lets everything that is due happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('fair slots', () => {
  test('one owner gets so many at once, and another still finds one', async () => {
    const slots = openFairSlots(['a', 'b', 'c'], FOREVER);
    const [first, second] = [await slots.take('flood'), await slots.take('flood')];
    let isThird = false;
    void slots.take('flood').then(() => {
      isThird = true;
    });
    await settle();
    expect(isThird).toBe(false);
    expect([first, second]).not.toContain(await slots.take('victim'));
    slots.give('flood', first);
    await settle();
    expect(isThird).toBe(true);
  });

  test('owners that wait take turns, however many requests each has', async () => {
    const slots = openFairSlots(['only'], FOREVER);
    await slots.take('first');
    const served: string[] = [];
    const ask = (owner: string) => slots.take(owner).then(() => served.push(owner));
    for (const owner of ['flood', 'flood', 'flood', 'victim', 'other']) void ask(owner);
    for (const holder of ['first', 'flood', 'victim', 'other', 'flood']) {
      slots.give(holder, 'only');
      await settle();
    }
    expect(served).toEqual(['flood', 'victim', 'other', 'flood', 'flood']);
  });

  test('the slot that was used last goes out first', async () => {
    const slots = openFairSlots(['cold', 'warm'], FOREVER);
    const warm = await slots.take('ann');
    slots.give('ann', warm);
    expect(await slots.take('bob')).toBe(warm);
  });

  test('a wait that gets too long ends with UNAVAILABLE, and the slot goes to the next', async () => {
    const slots = openFairSlots(['only'], { perOwner: 1, waitMs: 20 });
    await slots.take('ann');
    await expect(slots.take('bob')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { reason: 'busy' },
      retryAfterSeconds: 2,
    });
    slots.give('ann', 'only');
    expect(await slots.take('bob')).toBe('only');
  });
});
