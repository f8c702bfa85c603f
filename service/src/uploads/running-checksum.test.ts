// The digest of bytes that arrive in parts, in several processes, is the SHA-256 of the whole.
import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openChecksum } from './running-checksum.ts';

const BYTES = randomBytes(100_000);
const EXPECTED = createHash('sha256').update(BYTES).digest('hex');

test.each([[[]], [[1]], [[63, 64, 65]], [[64_000, 99_999]], [[0, 100_000]]])(
  'the state is stored and loaded at %j',
  async (cuts) => {
    let state: Uint8Array | null = null;
    for (const [index, start] of [0, ...cuts].entries()) {
      const checksum = await openChecksum(state);
      checksum.update(BYTES.subarray(start, cuts[index]));
      state = checksum.save();
    }
    expect((await openChecksum(state)).digest()).toBe(EXPECTED);
  },
);

test('two checksums at once do not mix', async () => {
  const [first, second] = [await openChecksum(null), await openChecksum(null)];
  for (let at = 0; at < BYTES.length; at += 1000) {
    first.update(BYTES.subarray(at, at + 1000));
    second.update(randomBytes(10));
  }
  expect(first.digest()).toBe(EXPECTED);
});
