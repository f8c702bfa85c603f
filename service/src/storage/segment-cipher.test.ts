// Tests the ciphertext of segments: a published vector, lengths, and streams.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSegmentCipher, encryptedLength, encryptSegment, toSequenceIv } from './segment-cipher.ts';

const cipher = { key: randomBytes(16), iv: randomBytes(16) };

test('is AES-128-CBC (the first block of NIST SP 800-38A, F.2.1)', () => {
  const vector = {
    key: Buffer.from('2b7e151628aed2a6abf7158809cf4f3c', 'hex'),
    iv: Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex'),
  };
  const plain = Buffer.from('6bc1bee22e409f96e93d7e117393172a', 'hex');
  expect(encryptSegment(vector, plain).subarray(0, 16).toString('hex')).toBe(
    '7649abac8119b246cee98e9b12e9197d',
  );
});

test.each([0, 1, 15, 16, 17, 31, 32, 1_048_576, 1_048_577])(
  '%i bytes have the announced length',
  (length) => {
    expect(encryptSegment(cipher, Buffer.alloc(length)).byteLength).toBe(encryptedLength(length));
    expect(encryptedLength(length) % 16).toBe(0);
    expect(encryptedLength(length)).toBeGreaterThan(length);
  },
);

test('a stream of chunks is the ciphertext of the whole', async () => {
  const plain = randomBytes(100_001);
  const stream = createSegmentCipher(cipher);
  for (let start = 0; start < plain.length; start += 7001) stream.write(plain.subarray(start, start + 7001));
  stream.end();
  expect(Buffer.concat(await stream.toArray()).equals(encryptSegment(cipher, plain))).toBe(true);
});

test.each([
  [1, '00000000000000000000000000000001'],
  [258, '00000000000000000000000000000102'],
  [4_294_967_296, '00000000000000000000000100000000'],
])('the IV of segment %i is its number, big-endian', (number, iv) => {
  expect(toSequenceIv(number).toString('hex')).toBe(iv);
});
