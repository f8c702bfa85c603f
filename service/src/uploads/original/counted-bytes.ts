// Counts the bytes of an upload as they arrive, and ends them once they exceed the owner's quota.
import { isQuotaExceeded } from '../../usage/quota.ts';

/** The owner's usage is told of the bytes at each renewal of the lease; `refuse` takes its refusal. */
export function countBytes(bytes: AsyncIterable<Uint8Array>) {
  let received = 0;
  let refusal: unknown;
  async function* count() {
    for await (const chunk of bytes) {
      if (refusal !== undefined) throw refusal;
      received += chunk.byteLength;
      yield chunk;
    }
  }
  return {
    bytes: count(),
    received: () => received,
    refusal: () => refusal,
    refuse: (error: unknown) => {
      if (isQuotaExceeded(error)) refusal = error;
      else throw error;
    },
  };
}
