// Starts an encode only while the disk of the scratch folder has space for it; otherwise the encode waits.
import type { Asset } from '../../assets/asset.ts';
import type { findAssetById } from '../../assets/asset-lookup.ts';
import type { JobPayloads, ServiceJobs } from '../../jobs.ts';
import type { recordCheck } from '../../lifecycle/reports.ts';
import type { Bound } from '../../platform/bind.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { SPACE_RETRY_MS, type ScratchReservations } from '../../platform/process/scratch-reservations.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { EncodeJobName } from '../encode-jobs.ts';
import type { Ladder } from '../plan/ladder.ts';
import { estimateScratchBytes } from '../plan/scratch-need.ts';
import type { finishChunk, isChunkWanted } from './encode-chunks.ts';
import { deleteEncodeWait, pauseEncodeWait, recordEncodeWait } from './scratch-space.sql.ts';

type SpaceNeeds = {
  readonly db: Database;
  readonly jobs: Pick<ServiceJobs, 'sendFor' | 'listOpen'>;
  readonly store: Pick<ObjectStore, 'localFile'>;
  readonly scratchReservations: ScratchReservations;
  readonly ladder: Ladder;
  readonly workerName: string;
  readonly now: () => Date;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly recordCheck: Bound<typeof recordCheck>;
  readonly isChunkWanted: Bound<typeof isChunkWanted>;
  readonly finishChunk: Bound<typeof finishChunk>;
  readonly log: { warn(facts: object, message: string): void };
};

type EncodeJob<N extends EncodeJobName> = (run: JobRun<JobPayloads[N]>) => Promise<void>;
type ChunkJob = (run: JobRun<JobPayloads['encode-chunk']>) => Promise<void>;

type ScratchSpace = {
  forEncodes<N extends EncodeJobName>(name: N, encode: EncodeJob<N>): EncodeJob<N>;
  forChunks(encode: ChunkJob): ChunkJob;
};

export function createScratchSpace(needs: SpaceNeeds): ScratchSpace {
  /** What the runs of this process have reserved, by asset. */
  const reserved = new Map<string, number>();
  return {
    forEncodes: (name, encode) => async (run) => {
      const { assetId, attempt } = run.payload;
      const asset = await needs.findAssetById(assetId);
      const isWanted = asset?.attempt === attempt && asset.stream_status === 'processing';
      const isCopied = !needs.store.localFile;
      const bytes = isWanted ? bytesOf(name, asset, { isCopied, ladder: needs.ladder }) : 0;
      const freeBytes = await needs.scratchReservations.runWithin(bytes, async () => {
        await pauseEncodeWait(needs.db, assetId);
        reserved.set(assetId, bytes);
        await encode(run).finally(() => reserved.delete(assetId));
        await deleteEncodeWait(needs.db, assetId);
      });
      if (asset && freeBytes !== undefined)
        await postpone(needs, asset, { job: { name, payload: run.payload }, neededBytes: bytes, freeBytes });
    },
    forChunks: (encode) => async (run) => {
      const { assetId } = run.payload;
      const asset = await needs.findAssetById(assetId);
      const isWanted = asset !== undefined && (await needs.isChunkWanted(run.payload));
      const copyBytes = needs.store.localFile ? 0 : (asset?.size_bytes ?? 0);
      const bytes = isWanted ? run.payload.bytes + copyBytes : 0;
      const work = async () => {
        await pauseEncodeWait(needs.db, assetId);
        await encode(run).finally(() => pauseEncodeWait(needs.db, assetId));
      };
      // The run of the video writes nothing while it waits for its chunks.
      const freeBytes = await needs.scratchReservations.runWithin(bytes, work, reserved.get(assetId));
      if (asset && freeBytes !== undefined)
        await postponeChunk(needs, asset, { chunk: run.payload, neededBytes: bytes, freeBytes });
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
  needs: SpaceNeeds,
  asset: Asset,
  { job, ...space }: Space & { readonly job: PostponedJob },
): Promise<void> {
  await recordWait(needs, asset, space);
  const startAfter = new Date(needs.now().getTime() + SPACE_RETRY_MS);
  await needs.db.transaction((tx) => needs.jobs.sendFor(tx, asset.owner_user_id, { ...job, startAfter }));
}

/** The log and the timeline show the first wait of an attempt. Returns how long it has waited. */
async function recordWait(needs: SpaceNeeds, asset: Asset, space: Space): Promise<number> {
  const { id: assetId, attempt } = asset;
  const wait = await recordEncodeWait(needs.db, { assetId, attempt, worker: needs.workerName, ...space });
  if (!wait?.is_new) return wait?.waited_ms ?? 0;
  const logged = { needed_bytes: space.neededBytes, free_bytes: space.freeBytes };
  needs.log.warn({ asset_id: assetId, ...logged }, 'an encode waits for space in the scratch folder');
  await needs.recordCheck(asset, {
    data: { source: 'service', reason: 'scratch_disk_full', ...logged },
    checkAt: asset.reconcile_at,
  });
  return wait.waited_ms;
}

type Chunk = JobPayloads['encode-chunk'];

/** The run of the video may fill the disk itself, and then waits for chunks that wait for its end. */
const MAX_CHUNK_WAIT_MS = 600_000;

async function postponeChunk(
  needs: SpaceNeeds,
  asset: Asset,
  { chunk, ...space }: Space & { readonly chunk: Chunk },
): Promise<void> {
  const waitedMs = await recordWait(needs, asset, space);
  if (waitedMs >= MAX_CHUNK_WAIT_MS && !(await isAnyEncoded(needs, chunk))) return refuseChunk(needs, chunk);
  const startAfter = new Date(needs.now().getTime() + SPACE_RETRY_MS);
  await needs.db.transaction((tx) =>
    needs.jobs.sendFor(tx, asset.owner_user_id, { name: 'encode-chunk', payload: chunk, startAfter }),
  );
}

/** Whether a worker encodes another chunk of the run. Jobs that only find no space end at once. */
async function isAnyEncoded({ jobs, now }: SpaceNeeds, chunk: Chunk): Promise<boolean> {
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
async function refuseChunk(needs: SpaceNeeds, chunk: Chunk): Promise<void> {
  const message = 'no worker has space for the chunk on its disk';
  const result = { code: 'chunk_refused', message, log: '' } as const;
  if (!(await needs.finishChunk(chunk, { state: 'refused', result }))) return;
  needs.log.warn(
    { asset_id: chunk.assetId, chunk: chunk.number },
    'no worker has space for a chunk: the video is encoded in one piece',
  );
}
