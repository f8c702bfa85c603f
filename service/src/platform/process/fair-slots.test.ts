// Tests the limits, the order and the reserved slots of fair slots.
import { describe, expect, test } from 'vitest';
import { type AcquireSlot, openFairSlots, type SlotLimits } from './fair-slots.ts';

const UNLIMITED: SlotLimits = {
  perOwner: Number.POSITIVE_INFINITY,
  maxWaiting: Number.POSITIVE_INFINITY,
  waitMs: Number.POSITIVE_INFINITY,
};
const BUSY = { code: 'UNAVAILABLE', details: { reason: 'busy' } };

/** Runs all pending callbacks. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Opens slots with one group for each element of `groups`, and records who got a slot in which order. A
 * requester is an owner, or `owner/item`.
 */
function open(slots: number, ...groups: Partial<SlotLimits>[]) {
  const fairSlots = openFairSlots(slots);
  const acquires = groups.map((limits) => fairSlots.addGroup({ ...UNLIMITED, ...limits }));
  const served: string[] = [];
  const held = new Map<string, (() => void)[]>();
  return {
    served,
    async acquire(requester: string, group = 0): Promise<void> {
      const [owner = '', item] = requester.split('/');
      const release = await (acquires[group] as AcquireSlot)(owner, item);
      served.push(requester);
      held.set(requester, [...(held.get(requester) ?? []), release]);
    },
    async release(owner: string): Promise<void> {
      held.get(owner)?.shift()?.();
      await settle();
    },
  };
}

const request = async ({ acquire }: ReturnType<typeof open>, owners: string[], group = 0): Promise<void> => {
  for (const owner of owners) void acquire(owner, group);
  await settle();
};

describe('one group', () => {
  test('limits the slots of one owner, so that another owner gets a free one', async () => {
    const slots = open(3, { perOwner: 2 });
    await request(slots, ['flood', 'flood', 'flood', 'victim']);
    expect(slots.served).toEqual(['flood', 'flood', 'victim']);
    await slots.release('flood');
    expect(slots.served).toHaveLength(4);
  });

  test('leaves the last slot to other owners, whatever the limit is', async () => {
    const slots = open(2, {});
    await request(slots, ['flood', 'flood', 'victim']);
    expect(slots.served).toEqual(['flood', 'victim']);
  });

  test('serves waiting owners round-robin, regardless of their number of requests', async () => {
    const slots = open(1, {});
    await request(slots, ['first', 'flood', 'flood', 'flood', 'victim', 'other']);
    for (const holder of ['first', 'flood', 'victim', 'other', 'flood']) await slots.release(holder);
    expect(slots.served).toEqual(['first', 'flood', 'victim', 'other', 'flood', 'flood']);
  });

  test('rejects a request after the timeout, and serves the next owner', async () => {
    const slots = open(1, { waitMs: 20 });
    await slots.acquire('ann');
    await expect(slots.acquire('bob')).rejects.toMatchObject(BUSY);
    await slots.release('ann');
    await slots.acquire('bob');
    expect(slots.served).toEqual(['ann', 'bob']);
  });

  test('rejects requests above the waiting limit of an owner, and other owners can still wait', async () => {
    const slots = open(1, { maxWaiting: 1 });
    await request(slots, ['flood', 'flood']);
    await expect(slots.acquire('flood')).rejects.toMatchObject(BUSY);
    await request(slots, ['victim']);
    await slots.release('flood');
    await slots.release('flood');
    expect(slots.served).toEqual(['flood', 'flood', 'victim']);
  });
});

describe('items of owners', () => {
  test('an owner with many items holds no more slots than one with a single item', async () => {
    const slots = open(2, { perItem: 1 });
    await request(slots, ['flood/1', 'flood/2', 'flood/3', 'flood/4', 'victim/1']);
    expect(slots.served).toEqual(['flood/1', 'victim/1']);
  });

  test('owners take turns, and so do the items of each', async () => {
    const slots = open(2, { perItem: 1 });
    await request(slots, ['other', 'flood/1', 'flood/1', 'flood/1', 'flood/2', 'flood/3', 'victim/1']);
    for (const holder of ['flood/1', 'other', 'flood/1', 'victim/1', 'flood/2', 'flood/3'])
      await slots.release(holder);
    const [first, ...later] = slots.served;
    expect([first, later]).toEqual([
      'other',
      ['flood/1', 'flood/1', 'victim/1', 'flood/2', 'flood/3', 'flood/1'],
    ]);
  });

  test('one item holds no more than its slots', async () => {
    const slots = open(4, { perItem: 1 });
    await request(slots, ['ann/1', 'ann/1', 'ann/2', 'ann/3', 'ann/4']);
    expect(slots.served).toEqual(['ann/1', 'ann/2', 'ann/3']);
    await slots.release('ann/2');
    expect(slots.served).toEqual(['ann/1', 'ann/2', 'ann/3', 'ann/4']);
  });

  test('an item has a waiting limit of its own', async () => {
    const slots = open(1, { perItem: 1, maxWaiting: 1 });
    await request(slots, ['flood/1', 'flood/1']);
    await expect(slots.acquire('flood/1')).rejects.toMatchObject(BUSY);
    await request(slots, ['flood/2']);
    for (const holder of ['flood/1', 'flood/1', 'flood/2']) await slots.release(holder);
    expect(slots.served).toEqual(['flood/1', 'flood/1', 'flood/2']);
  });
});

describe('several groups', () => {
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

  test('keep their reserved slots while another group is flooded by many owners', async () => {
    const slots = open(8, {}, {}, {});
    await request(slots, names('flood', 20));
    expect(slots.served).toHaveLength(4);
    await request(slots, ['a', 'b'], 1);
    await request(slots, ['c', 'd'], 2);
    expect(slots.served.slice(4)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('compete for the slots that are not reserved', async () => {
    const slots = open(8, {}, {}, {});
    await request(slots, names('x', 3));
    await request(slots, names('y', 20), 1);
    expect(slots.served).toHaveLength(6);
    await slots.release('x0');
    expect(slots.served).toHaveLength(7);
    await request(slots, ['z', 'z'], 2);
    expect(slots.served).toHaveLength(9);
  });

  test('do not share the limits of owners with the same name', async () => {
    const slots = open(8, { perOwner: 1 }, { perOwner: 1 });
    await request(slots, ['ann', 'ann']);
    await request(slots, ['ann', 'ann'], 1);
    expect(slots.served).toEqual(['ann', 'ann']);
  });
});
