// A pool of buffers for responses, because allocating memory per response is slower than reading the bytes
// into it.

export const BUFFER_BYTES = 1024 * 1024;
/**
 * Allocations above 32 MiB are mapped separately by the C library, so freeing them returns the memory to the
 * system.
 */
const BUFFERS_PER_SLAB = 40;
const MAX_SLABS = 6;
/** Slabs without use for this long are freed, so that memory is returned after a peak. */
const FREE_UNUSED_AFTER_MS = 5000;

type Slab = { readonly memory: Buffer; readonly free: Buffer[]; isUsed: boolean };
type AcquiredBuffer = { readonly buffer: Buffer; readonly release: () => void };

export type ResponseBuffers = {
  /** Undefined when all buffers are in use. */
  acquire(): AcquiredBuffer | undefined;
};

export function openResponseBuffers(): ResponseBuffers {
  const slabs: Slab[] = [];
  let isScheduled = false;

  function addSlab(): Slab | undefined {
    if (slabs.length === MAX_SLABS) return undefined;
    const slab = createSlab();
    slabs.push(slab);
    scheduleCleanup();
    return slab;
  }

  function scheduleCleanup(): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(freeUnused, FREE_UNUSED_AFTER_MS).unref();
  }

  function freeUnused(): void {
    isScheduled = false;
    for (const slab of slabs.splice(0)) {
      if (slab.isUsed || slab.free.length < BUFFERS_PER_SLAB) slabs.push(slab);
      // A transfer frees the memory now; the garbage collector of an idle process may not run for hours.
      else (slab.memory.buffer as ArrayBuffer).transfer(0);
      slab.isUsed = false;
    }
    if (slabs.length > 0) scheduleCleanup();
  }

  return {
    acquire() {
      const slab = slabs.find(({ free }) => free.length > 0) ?? addSlab();
      const buffer = slab?.free.pop();
      if (!slab || !buffer) return undefined;
      slab.isUsed = true;
      return { buffer, release: () => void slab.free.push(buffer) };
    },
  };
}

function createSlab(): Slab {
  const memory = Buffer.allocUnsafeSlow(BUFFERS_PER_SLAB * BUFFER_BYTES);
  const free = Array.from({ length: BUFFERS_PER_SLAB }, (_, index) =>
    memory.subarray(index * BUFFER_BYTES, (index + 1) * BUFFER_BYTES),
  );
  return { memory, free, isUsed: true };
}
