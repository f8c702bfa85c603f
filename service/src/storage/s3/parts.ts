// Collects a stream of unknown length into parts of equal size, within a memory budget.
import type { Hash } from 'node:crypto';
import type { ObjectBytes } from '../object-store.ts';
import { receivedBytes } from '../received-bytes.ts';
import type { PartLease, PartMemory } from './part-memory.ts';

/** `release` returns the part's memory to the budget; it may be called more than once. */
export type ObjectPart = {
  readonly number: number;
  readonly bytes: Buffer;
  readonly isLast: boolean;
  readonly release: () => void;
};

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

/**
 * What a part takes before it takes the memory of a whole one. Parts that grow in more steps would hold
 * memory while they wait for each other.
 */
const FIRST_BYTES = 256 * 1024;

type PartLimits = {
  readonly maxBytes: number;
  readonly partBytes: number;
  readonly memory: PartMemory;
  /** Digest of all bytes of the source. */
  readonly digest?: Hash;
  /** The number of the first part; 1 if omitted. */
  readonly firstNumber?: number;
  /** Bytes before those of the source, at most one part. */
  readonly head?: AsyncIterable<Uint8Array>;
};

/** Yields at least one part. The consumer releases each. */
export async function* collectParts(source: ObjectBytes, limits: PartLimits): AsyncGenerator<ObjectPart> {
  const { maxBytes, partBytes, memory, firstNumber = 1 } = limits;
  const chunks = readChunks(source, limits);
  let part = openPart(memory(), Math.min(partBytes, maxBytes));
  let number = firstNumber;
  let isReading = false;
  let collected = 0;
  try {
    for (;;) {
      isReading = true;
      const { value: chunk, done } = await part.lease.receive(chunks.next());
      isReading = false;
      if (done) break;
      for (let rest = chunk as Uint8Array; rest.byteLength > 0; ) {
        // A full part is not yielded before the next byte, because it may be the last.
        if (part.bytes().byteLength === partBytes) {
          yield { number, bytes: part.bytes(), isLast: false, release: part.lease.release };
          number += 1;
          part = openPart(memory(), Math.min(partBytes, maxBytes - collected));
        }
        const taken = await part.append(rest);
        collected += taken;
        rest = rest.subarray(taken);
      }
    }
    yield { number, bytes: part.bytes(), isLast: true, release: part.lease.release };
  } finally {
    part.lease.release();
    const closed = chunks.return(undefined).catch(() => {});
    // A source that did not send the next bytes before the memory was revoked closes when it does.
    if (!isReading) await closed;
  }
}

async function* readChunks(
  source: ObjectBytes,
  { maxBytes, digest, head }: PartLimits,
): AsyncGenerator<Uint8Array> {
  let left = maxBytes;
  for await (const chunk of head ?? []) {
    left -= chunk.byteLength;
    yield chunk;
  }
  for await (const chunk of receivedBytes(source, left)) {
    digest?.update(chunk);
    yield chunk;
  }
}

type OpenPart = {
  readonly lease: PartLease;
  readonly bytes: () => Buffer;
  /** Copies what fits, and returns the number of these bytes. */
  readonly append: (chunk: Uint8Array) => Promise<number>;
};

/** Copies the bytes, because a small chunk takes more memory than its bytes. */
function openPart(lease: PartLease, maxBytes: number): OpenPart {
  let buffer: Buffer = Buffer.alloc(0);
  let size = 0;
  return {
    lease,
    bytes: () => buffer.subarray(0, size),
    async append(chunk) {
      const end = Math.min(size + chunk.byteLength, maxBytes);
      if (end > buffer.byteLength) {
        const length = end <= FIRST_BYTES ? Math.min(FIRST_BYTES, maxBytes) : maxBytes;
        await lease.grow(length);
        const larger = Buffer.allocUnsafeSlow(length);
        buffer.copy(larger, 0, 0, size);
        buffer = larger;
      }
      const taken = chunk.subarray(0, end - size);
      buffer.set(taken, size);
      size = end;
      return taken.byteLength;
    },
  };
}
