// How the renditions of a video are encoded: in one piece, or in chunks on all workers.
import type { EncodingContext } from '../context.ts';
import type { ContinueRequest } from '../encoder.ts';
import type { ContinuedRun } from './encode-checkpoints.ts';
import { canUseChunks, encodeChunks } from './encode-chunks.ts';
import type { Run } from './encode-runs.ts';

type ChunkedEncode = {
  readonly request: Pick<ContinueRequest, 'chunkSeconds' | 'encodeChunks'>;
  /** When no worker stores a chunk of the run any more. */
  readonly storedUntil: () => Date | undefined;
};

/** The workers of chunks whose run has failed stop within two seconds. */
const CHUNK_END_MS = 60_000;

/** The shortest length of a chunk; undefined: the video is encoded in one piece. */
export const findChunkSeconds = async (ctx: EncodingContext, run: Run): Promise<number | undefined> =>
  ctx.settings.encodeChunkSeconds > 0 && (await canUseChunks(ctx, run))
    ? ctx.settings.encodeChunkSeconds
    : undefined;

export async function prepareChunks(
  ctx: EncodingContext,
  run: ContinuedRun,
  signal: AbortSignal,
): Promise<ChunkedEncode> {
  const chunkSeconds = run.checkpoint.isDividable ? await findChunkSeconds(ctx, run) : undefined;
  if (chunkSeconds === undefined) return { request: {}, storedUntil: () => undefined };
  let batches = 0;
  return {
    request: {
      chunkSeconds,
      encodeChunks: (specs, onDone) => encodeChunks(ctx, run, { batch: batches++, specs, onDone, signal }),
    },
    storedUntil: () => (batches > 0 ? new Date(Date.now() + CHUNK_END_MS) : undefined),
  };
}
