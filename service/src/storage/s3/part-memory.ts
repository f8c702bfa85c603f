// Bounds the memory of the parts that are being collected or sent. Slow sources cannot use up all of it.
import { busy } from '../../platform/http/errors.ts';

/** The memory of one part. */
export type PartLease = {
  /**
   * Resolves when the part may have so many bytes in all. Throws UNAVAILABLE (`busy`) when that takes too
   * long.
   */
  grow(bytes: number): Promise<void>;
  /** Waits for bytes of the source. Throws UNAVAILABLE (`busy`) when another part gets the memory. */
  receive(next: Promise<IteratorResult<Uint8Array>>): Promise<IteratorResult<Uint8Array>>;
  /** May be called more than once. */
  release(): void;
};

/** Opens a lease of no bytes. */
export type PartMemory = () => PartLease;

type MemoryLimits = { readonly totalBytes: number; readonly maxWaitMs: number };

/** `revoke` is set while the part waits for bytes of its source. */
type Lease = { bytes: number; received: number; since: number; revoke: (() => void) | undefined };

type Waiter = { readonly bytes: number; readonly start: () => void };

type MemoryState = {
  readonly limits: MemoryLimits;
  free: number;
  readonly leases: Set<Lease>;
  /** Served in this order. */
  readonly waiting: Set<Waiter>;
};

/** A part is slow if its source sends less than this in a second, once it has had some time. */
const SLOW_BYTES_PER_MS = 1024 ** 2 / 1000;
const SLOW_AFTER_MS = 5000;
/** Parts become slow, and so give way, while others wait. */
const RECHECK_MS = 500;

export function createPartMemory(limits: MemoryLimits): PartMemory {
  const state: MemoryState = { limits, free: limits.totalBytes, leases: new Set(), waiting: new Set() };
  return () => openLease(state);
}

function openLease(state: MemoryState): PartLease {
  const lease: Lease = { bytes: 0, received: 0, since: 0, revoke: undefined };
  return {
    async grow(bytes) {
      // A part that is larger than this cannot be bounded: two such parts must not wait for each other.
      const more = Math.min(bytes, state.limits.totalBytes / 2) - lease.bytes;
      if (more <= 0) return;
      if (lease.bytes === 0) lease.since = performance.now();
      await acquire(state, more);
      lease.bytes += more;
      state.leases.add(lease);
    },
    receive: (next) => receive(lease, next),
    release() {
      takeBack(state, lease);
      serve(state);
    },
  };
}

function receive(
  lease: Lease,
  next: Promise<IteratorResult<Uint8Array>>,
): Promise<IteratorResult<Uint8Array>> {
  const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Uint8Array>>();
  lease.revoke = () => reject(busy());
  next.then(
    (result) => {
      lease.revoke = undefined;
      lease.received += result.value?.byteLength ?? 0;
      resolve(result);
    },
    (error: unknown) => {
      lease.revoke = undefined;
      reject(error);
    },
  );
  return promise;
}

function acquire(state: MemoryState, bytes: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const waiter: Waiter = { bytes, start: resolve };
  state.waiting.add(waiter);
  serve(state);
  if (!state.waiting.has(waiter)) return promise;
  const end = performance.now() + state.limits.maxWaitMs;
  const timer = setInterval(
    () => {
      if (performance.now() >= end) {
        state.waiting.delete(waiter);
        reject(busy());
      }
      serve(state);
    },
    Math.min(RECHECK_MS, state.limits.maxWaitMs),
  );
  return promise.finally(() => clearInterval(timer));
}

function serve(state: MemoryState): void {
  for (const waiter of state.waiting) {
    while (waiter.bytes > state.free) {
      const slowest = findSlowest(state);
      if (!slowest) return;
      takeBack(state, slowest);
      slowest.revoke?.();
    }
    state.waiting.delete(waiter);
    state.free -= waiter.bytes;
    waiter.start();
  }
}

function takeBack(state: MemoryState, lease: Lease): void {
  state.free += lease.bytes;
  lease.bytes = 0;
  state.leases.delete(lease);
}

/** Undefined while slow parts hold at most half of the memory, which is theirs. */
function findSlowest({ leases, limits }: MemoryState): Lease | undefined {
  const slow = Array.from(leases).filter(isSlow);
  const held = slow.reduce((sum, { bytes }) => sum + bytes, 0);
  if (held <= limits.totalBytes / 2) return undefined;
  return slow.reduce((slowest, lease) => (rateOf(lease) < rateOf(slowest) ? lease : slowest));
}

const isSlow = (lease: Lease): boolean =>
  lease.revoke !== undefined &&
  performance.now() - lease.since >= SLOW_AFTER_MS &&
  rateOf(lease) < SLOW_BYTES_PER_MS;

/** Bytes per millisecond. */
const rateOf = ({ received, since }: Lease): number => received / (performance.now() - since);
