// Encrypts segments with AES-128-CBC and PKCS#7 padding, as HLS players decrypt them (RFC 8216, 4.3.2.4).
import { type Cipheriv, createCipheriv } from 'node:crypto';

/** Both of 16 bytes. */
export type SegmentCipher = { readonly key: Uint8Array; readonly iv: Uint8Array };

const BLOCK_BYTES = 16;

/** The padding fills the last block, or is a block of its own. */
export const encryptedLength = (plainBytes: number): number =>
  (Math.floor(plainBytes / BLOCK_BYTES) + 1) * BLOCK_BYTES;

/** A transform stream. */
export const createSegmentCipher = ({ key, iv }: SegmentCipher): Cipheriv =>
  createCipheriv('aes-128-cbc', key, iv);

export function encryptSegment(cipher: SegmentCipher, bytes: Uint8Array): Buffer {
  const stream = createSegmentCipher(cipher);
  return Buffer.concat([stream.update(bytes), stream.final()]);
}

/** The IV of a segment without an IV attribute: its media sequence number, big-endian (RFC 8216, 5.2). */
export function toSequenceIv(sequence: number): Buffer {
  const iv = Buffer.alloc(BLOCK_BYTES);
  iv.writeBigUInt64BE(BigInt(sequence), BLOCK_BYTES - 8);
  return iv;
}
