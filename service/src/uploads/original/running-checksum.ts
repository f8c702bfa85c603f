// The SHA-256 of uploads that arrive in several requests, in the memory of this process (decision 6).
import { createHash, type Hash } from 'node:crypto';

/** Valid only for uploads whose length is what this process has seen: another one may have received more. */
export type RunningChecksums = {
  /** The hash of the first `length` bytes, which the caller may update; undefined if it is not known. */
  take(upload: string, length: number): Hash | undefined;
  /** Remembers the hash of the first `length` bytes. */
  keep(upload: string, length: number, hash: Hash): void;
  /** Lower-case hex digest of the first `length` bytes; undefined if it is not known. */
  findDigest(upload: string, length: number): string | undefined;
  forget(upload: string): void;
};

/** A hash takes less than 1 KiB. Without one the bytes are read again when the upload ends. */
const MAX_CHECKSUMS = 10_000;

export function createRunningChecksums(max = MAX_CHECKSUMS): RunningChecksums {
  /** Least recently used first. */
  const running = new Map<string, { readonly length: number; readonly hash: Hash }>();
  const find = (upload: string, length: number): Hash | undefined => {
    if (length === 0) return createHash('sha256');
    const found = running.get(upload);
    return found?.length === length ? found.hash : undefined;
  };
  return {
    take: (upload, length) => {
      const hash = find(upload, length);
      running.delete(upload);
      return hash;
    },
    keep: (upload, length, hash) => {
      running.delete(upload);
      running.set(upload, { length, hash });
      const [oldest] = running.keys();
      if (running.size > max && oldest !== undefined) running.delete(oldest);
    },
    findDigest: (upload, length) => find(upload, length)?.copy().digest('hex'),
    forget: (upload) => void running.delete(upload),
  };
}
