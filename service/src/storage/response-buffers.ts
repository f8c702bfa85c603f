// Buffers that go from response to response: fresh memory for each costs more than to read the bytes into it.

export const BUFFER_BYTES = 1024 * 1024;
/** Above 32 MiB the C library maps memory for this one allocation, and returns it to the system when it is freed. */
const BUFFERS_PER_SLAB = 40;
const MAX_SLABS = 6;
/** Slabs that nobody needed for this long are freed, so that memory comes back after a flood. */
const KEEP_UNUSED_MS = 5000;

type Slab = { readonly memory: Buffer; readonly free: Buffer[]; isUsed: boolean };
export type LentBuffer = { readonly buffer: Buffer; readonly giveBack: () => void };

const slabs: Slab[] = [];
let isWatching = false;

/** undefined when all are lent. */
export function lendBuffer(): LentBuffer | undefined {
  const slab = slabs.find(({ free }) => free.length > 0) ?? addSlab();
  const buffer = slab?.free.pop();
  if (!slab || !buffer) return undefined;
  slab.isUsed = true;
  return {
    buffer,
    giveBack: () => {
      slab.free.push(buffer);
    },
  };
}

function addSlab(): Slab | undefined {
  if (slabs.length === MAX_SLABS) return undefined;
  const memory = Buffer.allocUnsafeSlow(BUFFERS_PER_SLAB * BUFFER_BYTES);
  const free = Array.from({ length: BUFFERS_PER_SLAB }, (_, index) =>
    memory.subarray(index * BUFFER_BYTES, (index + 1) * BUFFER_BYTES),
  );
  const slab = { memory, free, isUsed: true };
  slabs.push(slab);
  watchUnused();
  return slab;
}

function watchUnused(): void {
  if (isWatching) return;
  isWatching = true;
  setTimeout(freeUnused, KEEP_UNUSED_MS).unref();
}

function freeUnused(): void {
  isWatching = false;
  for (const slab of slabs.splice(0)) {
    if (slab.isUsed || slab.free.length < BUFFERS_PER_SLAB) slabs.push(slab);
    // To transfer the memory frees it now; the garbage collector of an idle process may not run for hours.
    else (slab.memory.buffer as ArrayBuffer).transfer(0);
    slab.isUsed = false;
  }
  if (slabs.length > 0) watchUnused();
}
