// The SHA-256 of a file.
import { toHex } from '../encoding.ts';

/** Web Crypto needs the whole file in memory. */
const MAX_BYTES_IN_MEMORY = 64 * 1024 ** 2;

type NodeCrypto = {
  createHash(name: string): { update(bytes: Uint8Array): void; digest(encoding: 'hex'): string };
};
type Globals = { readonly process?: { getBuiltinModule?: (name: string) => NodeCrypto | undefined } };

/** 64 hex digits. Files of every size in Node, up to 64 MiB elsewhere: Web Crypto reads no streams. */
export async function computeSha256(file: Blob, signal?: AbortSignal): Promise<string> {
  const crypto = (globalThis as Globals).process?.getBuiltinModule?.('node:crypto');
  if (crypto) return hashStream(crypto, file, signal);
  if (file.size > MAX_BYTES_IN_MEMORY)
    throw new TypeError(
      '`checksum: true` is limited to 64 MiB here. Compute the SHA-256 and pass its hex digits.',
    );
  const digest = await globalThis.crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  signal?.throwIfAborted();
  return toHex(new Uint8Array(digest));
}

async function hashStream(crypto: NodeCrypto, file: Blob, signal?: AbortSignal): Promise<string> {
  const hash = crypto.createHash('sha256');
  const reader = file.stream().getReader();
  for (;;) {
    signal?.throwIfAborted();
    const { done, value } = await reader.read();
    if (done) return hash.digest('hex');
    hash.update(value);
  }
}
