// Tests that the digest of bytes that arrive in parts is that of the whole, or not known.
import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createRunningChecksums, type RunningChecksums } from './running-checksum.ts';

const BYTES = randomBytes(1000);
const digestOf = (length: number) => createHash('sha256').update(BYTES.subarray(0, length)).digest('hex');

/** As a request does that receives the bytes between two offsets. */
function receive(checksums: RunningChecksums, [start, end]: readonly [number, number], upload = 'one'): void {
  const hash = checksums.take(upload, start);
  hash?.update(BYTES.subarray(start, end));
  if (hash) checksums.keep(upload, end, hash);
}

test('the digest covers all parts, and can be asked for again', () => {
  const checksums = createRunningChecksums();
  for (const part of [
    [0, 1],
    [1, 64],
    [64, 64],
    [64, 1000],
  ] as const)
    receive(checksums, part);
  expect(checksums.findDigest('one', 1000)).toBe(digestOf(1000));
  expect(checksums.findDigest('one', 1000)).toBe(digestOf(1000));
});

test('the digest is unknown if this process did not see every byte', () => {
  const checksums = createRunningChecksums();
  receive(checksums, [0, 100]);
  // Another process received 100 to 300.
  expect(checksums.findDigest('one', 300)).toBeUndefined();
  receive(checksums, [300, 1000]);
  expect(checksums.findDigest('one', 1000)).toBeUndefined();
});

test('the digest is unknown after a part that failed', () => {
  const checksums = createRunningChecksums();
  receive(checksums, [0, 100]);
  checksums.take('one', 100)?.update(BYTES.subarray(100, 200));
  expect(checksums.findDigest('one', 100)).toBeUndefined();
});

test('an upload that starts again has the digest of its new bytes', () => {
  const checksums = createRunningChecksums();
  receive(checksums, [0, 100]);
  receive(checksums, [0, 500]);
  expect(checksums.findDigest('one', 500)).toBe(digestOf(500));
});

test('the uploads that were written longest ago are forgotten first', () => {
  const checksums = createRunningChecksums(2);
  receive(checksums, [0, 10], 'one');
  receive(checksums, [0, 10], 'two');
  receive(checksums, [10, 20], 'one');
  receive(checksums, [0, 10], 'three');
  expect(checksums.findDigest('two', 10)).toBeUndefined();
  expect(checksums.findDigest('one', 20)).toBe(digestOf(20));
  checksums.forget('one');
  expect(checksums.findDigest('one', 20)).toBeUndefined();
});
