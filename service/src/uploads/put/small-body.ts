// Reads a small body that arrives at once into memory.

type Body = { readonly length: number | undefined; readonly bytes: AsyncIterable<Uint8Array> };

/** `bytes` yields the whole body in either case; `chunks` has it if it is whole. */
type ReadBody = {
  readonly chunks?: readonly Uint8Array[];
  readonly bytes: AsyncIterable<Uint8Array>;
};

/** What a request may hold in memory for as long. */
type SmallBody = { readonly maxBytes: number; readonly withinMs: number };

/** A body that is longer, slower or incomplete is left to the caller. */
export async function readSmallBody({ length, bytes }: Body, limits: SmallBody): Promise<ReadBody> {
  if (length === undefined || length > limits.maxBytes) return { bytes };
  const iterator = bytes[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let next = iterator.next();
  const { promise: timeout, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, limits.withinMs, undefined);
  try {
    for (;;) {
      const result = await Promise.race([next, timeout]);
      if (!result) return { bytes: resume(chunks, next, iterator) };
      if (result.done) break;
      chunks.push(result.value);
      next = iterator.next();
    }
  } catch {
    // The reader of `bytes` gets the error.
    return { bytes: resume(chunks, next, iterator) };
  } finally {
    clearTimeout(timer);
  }
  const received = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  return { bytes: replay(chunks), ...(received === length && { chunks }) };
}

/** The chunks that were read, then the pending one and the rest. */
function resume(
  chunks: readonly Uint8Array[],
  pending: Promise<IteratorResult<Uint8Array>>,
  iterator: AsyncIterator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  // The reader may start later, or never.
  pending.catch(() => {});
  return readOn(chunks, pending, iterator);
}

async function* readOn(
  chunks: readonly Uint8Array[],
  pending: Promise<IteratorResult<Uint8Array>>,
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
    for (let next = await pending; !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** Can be read more than once. */
const replay = (chunks: readonly Uint8Array[]): AsyncIterable<Uint8Array> => ({
  async *[Symbol.asyncIterator]() {
    yield* chunks;
  },
});
