// Measures how a body arrives, within limits.
import { expect, test } from 'vitest';
import { measureBody } from './measured-body.ts';

const LIMITS = { maxBytes: 1000, maxMs: 1000, clock: () => 0 };

async function* body(chunks: readonly number[], onChunk = () => {}): AsyncGenerator<Uint8Array> {
  for (const bytes of chunks) {
    onChunk();
    yield new Uint8Array(bytes);
  }
}

test('reports bytes, and times relative to the first chunk', async () => {
  let now = 5;
  const clock = () => now;
  const arriving = body([10, 20], () => {
    now += 100.04;
  });
  expect(await measureBody(arriving, { ...LIMITS, clock })).toEqual({
    body_bytes: 30,
    is_complete: true,
    first_chunk_after_ms: 100,
    chunk_count: 2,
    chunks: [
      { at_ms: 0, bytes: 10 },
      { at_ms: 100, bytes: 20 },
    ],
  });
});

test('lists at most 100 chunks, and counts all', async () => {
  const measured = await measureBody(body(Array.from({ length: 150 }, () => 1)), LIMITS);
  expect(measured).toMatchObject({ body_bytes: 150, chunk_count: 150 });
  expect('chunks' in measured && measured.chunks).toHaveLength(100);
});

test('an empty body has no first chunk', async () => {
  expect(await measureBody(body([]), LIMITS)).toMatchObject({ body_bytes: 0, first_chunk_after_ms: null });
});

test('stops at its limits', async () => {
  expect(await measureBody(body([600, 600, 600]), LIMITS)).toEqual({ refused: 'too_large' });
  let now = 0;
  const slow = body([1, 1], () => {
    now += 600;
  });
  expect(await measureBody(slow, { ...LIMITS, clock: () => now })).toEqual({ refused: 'too_slow' });
});

test('reports a connection that ended', async () => {
  const broken = body([1, 1], () => {
    throw new Error('aborted');
  });
  expect(await measureBody(broken, LIMITS)).toEqual({ refused: 'cut_short' });
});
