// A value that is loaded by its first reader and kept.

/** Concurrent callers share a load. A failed one is repeated by the next caller. */
export function createLazyValue<T>(load: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => {
    value ??= load().catch((error: unknown) => {
      value = undefined;
      throw error;
    });
    return value;
  };
}
