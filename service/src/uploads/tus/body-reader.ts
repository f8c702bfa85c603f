// Reads a request body in segments. Bytes that arrived before the connection broke are kept.

export type UploadBody = {
  /** Undefined for chunked bodies. */
  readonly length: number | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
};

type Segment = {
  readonly maxBytes: number;
  /** Whether the segment ends before it has all these bytes. */
  readonly isDue: () => boolean;
  readonly onChunk: (chunk: Uint8Array) => void;
};

export type BodyReader = {
  /** Waits for the next bytes; false at the end, after `stop`, and when the body breaks off. */
  hasMore(): Promise<boolean>;
  /** Yields the next bytes, at least one chunk. The rest of a chunk stays for the next segment. */
  segment(segment: Segment): AsyncGenerator<Uint8Array>;
  /** Ends the reading at once and leaves the rest of the body to others. */
  stop(): void;
  /** Why the body broke off. */
  readonly failure: unknown;
};

export function createBodyReader(bytes: AsyncIterable<Uint8Array>): BodyReader {
  const iterator = bytes[Symbol.asyncIterator]();
  let pending: Uint8Array | undefined;
  let failure: unknown;
  let isStopped = false;
  let stopWaiting = () => {};
  // A race with one lasting promise would keep memory for each chunk.
  const readNext = () =>
    new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
      stopWaiting = () => resolve(undefined);
      iterator.next().then(resolve, reject);
    });
  const hasMore = async (): Promise<boolean> => {
    while (!pending?.byteLength) {
      if (isStopped) return false;
      const result = await readNext().catch((error: unknown) => {
        failure = error ?? new Error('the body broke off');
      });
      if (!result || result.done) return false;
      pending = result.value;
    }
    return true;
  };
  return {
    hasMore,
    stop() {
      isStopped = true;
      stopWaiting();
      iterator.return?.().catch(() => {});
    },
    get failure() {
      return failure;
    },
    async *segment({ maxBytes, isDue, onChunk }) {
      let left = maxBytes;
      while (left > 0 && (await hasMore())) {
        const chunk = (pending as Uint8Array).subarray(0, left);
        pending = pending?.subarray(chunk.byteLength);
        left -= chunk.byteLength;
        onChunk(chunk);
        yield chunk;
        if (isDue()) return;
      }
    },
  };
}
