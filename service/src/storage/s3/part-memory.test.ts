// The memory of parts is bounded, and slow parts give it to those that wait.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPartMemory, type PartLease, type PartMemory } from './part-memory.ts';

const BUSY = { code: 'UNAVAILABLE', details: { reason: 'busy' } };
const MIB = 1024 ** 2;

let memory: PartMemory;
beforeEach(() => {
  vi.useFakeTimers();
  memory = createPartMemory({ totalBytes: 16 * MIB, maxWaitMs: 10_000 });
});
afterEach(() => vi.useRealTimers());

async function leaseOf(bytes: number): Promise<PartLease> {
  const lease = memory();
  await lease.grow(bytes);
  return lease;
}

type StalledPart = { readonly receivedBytes: number; readonly send?: Promise<IteratorResult<Uint8Array>> };

/** A part of 4 MiB whose source sent some bytes, and then sends nothing unless `send` resolves. */
async function openStalledPart({ receivedBytes, send = new Promise(() => {}) }: StalledPart) {
  const lease = await leaseOf(4 * MIB);
  await lease.receive(Promise.resolve({ value: Buffer.alloc(receivedBytes) }));
  const part: { lease: PartLease; error?: unknown } = { lease };
  lease.receive(send).catch((error: unknown) => {
    part.error = error;
  });
  return part;
}

const stallParts = (...sources: StalledPart[]) => Promise.all(sources.map(openStalledPart));

test('a part waits until others are released, and is refused after the longest wait', async () => {
  const [first, second] = [await leaseOf(8 * MIB), await leaseOf(8 * MIB)];
  const refused = expect(leaseOf(1)).rejects.toMatchObject(BUSY);
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  const next = leaseOf(8 * MIB);
  first.release();
  first.release();
  const last = leaseOf(8 * MIB);
  second.release();
  (await next).release();
  (await last).release();
});

test('a part that cannot grow keeps what it has, and others wait behind it', async () => {
  const [small, large] = [await leaseOf(1 * MIB), await leaseOf(8 * MIB)];
  const order: string[] = [];
  const growing = small.grow(8 * MIB + 1).then(() => order.push('growing'));
  const behind = leaseOf(8 * MIB).then(() => order.push('behind'));
  large.release();
  await growing;
  small.release();
  await behind;
  expect(order).toEqual(['growing', 'behind']);
});

test('a part that is larger than the memory does not wait for more than half of it', async () => {
  await leaseOf(100 * MIB);
  await leaseOf(100 * MIB);
});

test('the slowest part gives way to one that waits, while slow parts hold more than half', async () => {
  const parts = await stallParts(
    { receivedBytes: 300_000 },
    { receivedBytes: 200_000 },
    { receivedBytes: 400_000 },
    { receivedBytes: 500_000 },
  );
  await vi.advanceTimersByTimeAsync(5000);
  await leaseOf(4 * MIB);
  expect(parts.map(({ error }) => error)).toMatchObject([undefined, BUSY, undefined, undefined]);
  await leaseOf(4 * MIB);
  expect(parts.map(({ error }) => error)).toMatchObject([BUSY, BUSY, undefined, undefined]);
  const refused = expect(leaseOf(1)).rejects.toMatchObject(BUSY);
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  expect(parts.map(({ error }) => error)).toMatchObject([BUSY, BUSY, undefined, undefined]);
});

test('parts that become slow while another one waits give way too', async () => {
  const parts = await stallParts(...Array.from({ length: 4 }, () => ({ receivedBytes: 4 * MIB - 1 })));
  const waiting = leaseOf(4 * MIB);
  await vi.advanceTimersByTimeAsync(5000);
  await waiting;
  expect(parts.filter(({ error }) => error)).toHaveLength(1);
});

test('slow parts keep their memory while nobody waits', async () => {
  const parts = await stallParts(...Array.from({ length: 4 }, () => ({ receivedBytes: 1 })));
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(parts.filter(({ error }) => error)).toEqual([]);
});

test('a part that is being stored does not give way', async () => {
  for (let count = 0; count < 4; count += 1) await leaseOf(4 * MIB);
  const refused = expect(leaseOf(1)).rejects.toMatchObject(BUSY);
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
});

test('bytes that arrive after the memory was taken back are ignored', async () => {
  const { promise: send, resolve } = Promise.withResolvers<IteratorResult<Uint8Array>>();
  const [slowest] = await stallParts(
    { receivedBytes: 1, send },
    ...Array.from({ length: 3 }, () => ({ receivedBytes: 1000 })),
  );
  await vi.advanceTimersByTimeAsync(5000);
  await leaseOf(4 * MIB);
  resolve({ value: Buffer.alloc(1) });
  slowest?.lease.release();
  await vi.advanceTimersByTimeAsync(0);
  expect(slowest?.error).toMatchObject(BUSY);
});
