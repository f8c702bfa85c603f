// Starts an encode only while the disk of the scratch folder has space for it; otherwise the encode waits.
import type { Asset } from '../../assets/asset.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { SPACE_RETRY_MS } from '../../platform/process/scratch-reservations.ts';
import type { EncodingContext } from '../context.ts';
import type { EncodeJobName } from '../encode-jobs.ts';
import { estimateScratchBytes } from '../plan/ladder/scratch-need.ts';
import { finishChunk, isChunkWanted } from './encode-chunks.ts';
import { deleteEncodeWait, pauseEncodeWait, recordEncodeWait } from './scratch-space.sql.ts';

type EncodeJob<N extends EncodeJobName> = (run: JobRun<JobPayloads[N]>) => Promise<void>;
type ChunkJob = (run: JobRun<JobPayloads['encode-chunk']>) => Promise<void>;

type ScratchSpace = {
  forEncodes<N extends EncodeJobName>(name: N, encode: EncodeJob<N>): EncodeJob<N>;
  forChunks(encode: ChunkJob): ChunkJob;
};

export function createScratchSpace(ctx: EncodingContext): ScratchSpace {
  /** What the runs of this process have reserved, by asset. */
  const reserved = new Map<string, number>();
  return {
    forEncodes: (name, encode) => async (run) => {
      const { assetId, attempt } = run.payload;
      const asset = await ctx.lifecycle.findAssetById(assetId);
      const isWanted = asset?.attempt === attempt && asset.stream_status === 'processing';
      const isCopied = !ctx.store.localFile;
      const bytes = isWanted ? bytesOf(name, asset, { isCopied, ladder: ctx.settings.ladder }) : 0;
      const freeBytes = await ctx.worker.scratchReservations.runWithin(bytes, async () => {
        await pauseEncodeWait(ctx.db, assetId);
        reserved.set(assetId, bytes);
        await encode(run).finally(() => reserved.delete(assetId));
        await deleteEncodeWait(ctx.db, assetId);
      });
      if (asset && freeBytes !== undefined)
        await postpone(ctx, asset, { job: { name, payload: run.payload }, neededBytes: bytes, freeBytes });
    },
    forChunks: (encode) => async (run) => {
      const { assetId } = run.payload;
      const asset = await ctx.lifecycle.findAssetById(assetId);
      const isWanted = asset !== undefined && (await isChunkWanted(ctx, run.payload));
      const copyBytes = ctx.store.localFile ? 0 : (asset?.size_bytes ?? 0);
      const bytes = isWanted ? run.payload.bytes + copyBytes : 0;
      const work = async () => {
        await pauseEncodeWait(ctx.db, assetId);
        await encode(run).finally(() => pauseEncodeWait(ctx.db, assetId));
      };
      // The run of the video writes nothing while it waits for its chunks.
      const freeBytes = await ctx.worker.scratchReservations.runWithin(bytes, work, reserved.get(assetId));
      if (asset && freeBytes !== undefined)
        await postponeChunk(ctx, asset, { chunk: run.payload, neededBytes: bytes, freeBytes });
    },
  };
}

/** The workers of the chunks write the renditions of a divided video. */
const bytesOf = (
  name: EncodeJobName,
  asset: Asset,
  options: Parameters<typeof estimateScratchBytes>[1],
): number =>
  name === 'encode-divided'
    ? Number(options.isCopied) * (asset.size_bytes ?? 0)
    : estimateScratchBytes(asset, options);

type Space = { readonly neededBytes: number; readonly freeBytes: number };

type PostponedJob = { readonly name: EncodeJobName; readonly payload: JobPayloads[EncodeJobName] };

/** Sends a new job, because a failed job has a limited number of retries. */
async function postpone(
  ctx: EncodingContext,
  asset: Asset,
  { job, ...space }: Space & { readonly job: PostponedJob },
): Promise<void> {
  await recordWait(ctx, asset, space);
  const startAfter = new Date(ctx.now().getTime() + SPACE_RETRY_MS);
  await ctx.db.transaction((tx) => ctx.jobs.sendFor(tx, asset.owner_user_id, { ...job, startAfter }));
}

/** The log and the timeline show the first wait of an attempt. Returns how long it has waited. */
async function recordWait(ctx: EncodingContext, asset: Asset, space: Space): Promise<number> {
  const { id: assetId, attempt } = asset;
  const wait = await recordEncodeWait(ctx.db, { assetId, attempt, worker: ctx.worker.name, ...space });
  if (!wait?.is_new) return wait?.waited_ms ?? 0;
  const logged = { needed_bytes: space.neededBytes, free_bytes: space.freeBytes };
  ctx.log.warn({ asset_id: assetId, ...logged }, 'an encode waits for space in the scratch folder');
  await ctx.lifecycle.recordCheck(asset, {
    data: { source: 'service', reason: 'scratch_disk_full', ...logged },
    checkAt: asset.reconcile_at,
  });
  return wait.waited_ms;
}

type Chunk = JobPayloads['encode-chunk'];

/** The run of the video may fill the disk itself, and then waits for chunks that wait for its end. */
const MAX_CHUNK_WAIT_MS = 600_000;

async function postponeChunk(
  ctx: EncodingContext,
  asset: Asset,
  { chunk, ...space }: Space & { readonly chunk: Chunk },
): Promise<void> {
  const waitedMs = await recordWait(ctx, asset, space);
  if (waitedMs >= MAX_CHUNK_WAIT_MS && !(await isAnyEncoded(ctx, chunk))) return refuseChunk(ctx, chunk);
  const startAfter = new Date(ctx.now().getTime() + SPACE_RETRY_MS);
  await ctx.db.transaction((tx) =>
    ctx.jobs.sendFor(tx, asset.owner_user_id, { name: 'encode-chunk', payload: chunk, startAfter }),
  );
}

/** Whether a worker encodes another chunk of the run. Jobs that only find no space end at once. */
async function isAnyEncoded({ jobs, now }: EncodingContext, chunk: Chunk): Promise<boolean> {
  const startedBefore = now().getTime() - SPACE_RETRY_MS;
  return (await jobs.listOpen('encode-chunk')).some(
    ({ payload, isRunning, startedAt }) =>
      isRunning &&
      payload.assetId === chunk.assetId &&
      startedAt !== null &&
      startedAt.getTime() < startedBefore,
  );
}

/** The run ends, and the next one of the attempt encodes the video in one piece. */
async function refuseChunk(ctx: EncodingContext, chunk: Chunk): Promise<void> {
  const message = 'no worker has space for the chunk on its disk';
  const result = { code: 'chunk_refused', message, log: '' } as const;
  if (!(await finishChunk(ctx, chunk, { state: 'refused', result }))) return;
  ctx.log.warn(
    { asset_id: chunk.assetId, chunk: chunk.number },
    'no worker has space for a chunk: the video is encoded in one piece',
  );
}
