// Reads and discards the body of a request, and measures how it arrives.
import type { EchoReport } from '@mediary/contract/schemas/admin/diagnostics';

type MeasuredBody = Pick<
  EchoReport,
  'body_bytes' | 'is_complete' | 'first_chunk_after_ms' | 'chunk_count' | 'chunks'
>;

/** The body was not read to its end: it is too long, took too long, or the connection ended. */
export type UnreadBody = { readonly refused: 'too_large' | 'too_slow' | 'cut_short' };

type BodyLimits = {
  readonly maxBytes: number;
  readonly maxMs: number;
  /** A monotonic clock in ms. */
  readonly clock: () => number;
};

const MAX_CHUNKS = 100;

export const UNREAD: MeasuredBody = {
  body_bytes: 0,
  is_complete: false,
  first_chunk_after_ms: null,
  chunk_count: 0,
  chunks: [],
};

export async function measureBody(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, maxMs, clock }: BodyLimits,
): Promise<MeasuredBody | UnreadBody> {
  const start = clock();
  const chunks: { at_ms: number; bytes: number }[] = [];
  let [bytes, count] = [0, 0];
  let first: number | undefined;
  try {
    for await (const chunk of body) {
      const now = clock();
      first ??= now;
      bytes += chunk.byteLength;
      count += 1;
      if (bytes > maxBytes) return { refused: 'too_large' };
      if (now - start > maxMs) return { refused: 'too_slow' };
      if (count <= MAX_CHUNKS) chunks.push({ at_ms: round(now - first), bytes: chunk.byteLength });
    }
  } catch {
    // The only error of a request's body: its connection ended.
    return { refused: 'cut_short' };
  }
  return {
    body_bytes: bytes,
    is_complete: true,
    first_chunk_after_ms: first === undefined ? null : round(first - start),
    chunk_count: count,
    chunks,
  };
}

const round = (ms: number): number => Math.round(ms * 10) / 10;
