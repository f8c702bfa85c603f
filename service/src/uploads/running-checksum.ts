// A SHA-256 whose state can be stored, so that an upload can go on in another process.
import { createSHA256 } from 'hash-wasm';

export type RunningChecksum = {
  update(bytes: Uint8Array): void;
  /** Up to 63 of the bytes are part of the state. */
  save(): Uint8Array;
  /** Lower-case hex. Nothing can be added afterwards. */
  digest(): string;
};

/**
 * `state`: of the bytes so far; null at the start. node:crypto is seven times as fast, but cannot store its
 * state.
 */
export async function openChecksum(state: Uint8Array | null): Promise<RunningChecksum> {
  const hasher = (await createSHA256()).init();
  if (state) hasher.load(state);
  return {
    update: (bytes) => {
      hasher.update(bytes);
    },
    save: () => hasher.save(),
    digest: () => hasher.digest('hex'),
  };
}
