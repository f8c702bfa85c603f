// Collects a stream of unknown length into parts of equal size, within a memory budget.
import type { Hash } from 'node:crypto';
import { busy } from '../../platform/process/fair-slots.ts';
import { receivedBytes } from '../received-bytes.ts';

/** `release` returns the part's memory to the budget; it may be called more than once. */
export type Part = {
  readonly number: number;
  readonly bytes: Buffer;
  readonly isLast: boolean;
  readonly release: () => void;
};

/** Resolves when the process may hold another part; throws UNAVAILABLE when that takes too long. */
export type PartBudget = () => Promise<() => void>;

const MIB = 1024 ** 2;
/**
 * Every part but the last must have at least 5 MiB; an upload has at most 10 000 parts, an object at most 5
 * TiB.
 */
const PART_BYTES = 8 * MIB;
const MAX_PARTS = 10_000;
const MAX_OBJECT_BYTES = 5 * MIB ** 2;

/** Some stores require parts of equal size, so that the size follows from the limit of the object. */
export const partBytesFor = (maxBytes: number): number =>
  Math.max(PART_BYTES, Math.ceil(Math.min(maxBytes, MAX_OBJECT_BYTES) / MAX_PARTS / MIB) * MIB);

type Limits = {
  readonly maxBytes: number;
  readonly partBytes: number;
  readonly reserve: PartBudget;
  /** Digest of all bytes of the source. */
  readonly digest?: Hash;
  /** The number of the first part; 1 if omitted. */
  readonly firstNumber?: number;
  /** Bytes of the first part before those of the source, at most one part. */
  readonly readHead?: () => Promise<Uint8Array>;
};

/** Yields at least one part. The consumer releases each. */
export async function* collectParts(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, partBytes, reserve, digest, firstNumber: number = 1, readHead }: Limits,
): AsyncGenerator<Part> {
  let release = await reserve();
  try {
    let pending: Uint8Array[] = readHead ? [await readHead()] : [];
    let size = pending[0]?.byteLength ?? 0;
    for await (const chunk of receivedBytes(source, maxBytes - size)) {
      digest?.update(chunk);
      pending.push(chunk);
      size += chunk.byteLength;
      // A full part is not yielded before the next byte, because it may be the last.
      while (size > partBytes) {
        const bytes = Buffer.concat(pending);
        yield { number, bytes: bytes.subarray(0, partBytes), isLast: false, release };
        release = await reserve();
        pending = [bytes.subarray(partBytes)];
        size -= partBytes;
        number += 1;
      }
    }
    yield { number, bytes: Buffer.concat(pending), isLast: true, release };
  } finally {
    release();
  }
}

/** At most `parts` parts are held at once; further ones wait in order, and are refused after `maxWaitMs`. */
export function createPartBudget(parts: number, maxWaitMs: number): PartBudget {
  let free = parts;
  const waiting = new Set<() => void>();

  function createRelease(): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const [next] = waiting;
      if (next) next();
      else free += 1;
    };
  }

  return () => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    if (free > 0) {
      free -= 1;
      resolve(createRelease());
      return promise;
    }
    const start = () => {
      waiting.delete(start);
      clearTimeout(timer);
      resolve(createRelease());
    };
    const timer = setTimeout(() => {
      waiting.delete(start);
      reject(busy());
    }, maxWaitMs);
    waiting.add(start);
    return promise;
  };
}
