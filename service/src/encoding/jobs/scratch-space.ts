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
import type { Ladder } from '../plan/ladder.ts';
import { estimateScratchBytes } from '../plan/scratch-need.ts';
import { deleteEncodeWait, pauseEncodeWait, recordEncodeWait } from './scratch-space.sql.ts';

type SpaceNeeds = {
  readonly db: Database;
  readonly jobs: Pick<ServiceJobs, 'sendFor'>;
  readonly store: Pick<ObjectStore, 'localFile'>;
  readonly scratchReservations: ScratchReservations;
  readonly ladder: Ladder;
  readonly workerName: string;
  readonly now: () => Date;
  readonly findAssetById: Bound<typeof findAssetById>;
  readonly recordCheck: Bound<typeof recordCheck>;
  readonly log: { warn(facts: object, message: string): void };
};

type EncodeJob = (run: JobRun<JobPayloads['encode-asset']>) => Promise<void>;
type ChunkJob = (run: JobRun<JobPayloads['encode-chunk']>) => Promise<void>;

type ScratchSpace = {
  forEncodes(encode: EncodeJob): EncodeJob;
  forChunks(encode: ChunkJob): ChunkJob;
};

export function createScratchSpace(needs: SpaceNeeds): ScratchSpace {
  return {
    forEncodes: (encode) => async (run) => {
      const { assetId, attempt } = run.payload;
      const asset = await needs.findAssetById(assetId);
      const isWanted = asset?.attempt === attempt && asset.stream_status === 'processing';
      const bytes = isWanted
        ? estimateScratchBytes(asset, { isCopied: !needs.store.localFile, ladder: needs.ladder })
        : 0;
      const freeBytes = await needs.scratchReservations.runWithin(bytes, async () => {
        await pauseEncodeWait(needs.db, assetId);
        await encode(run);
        await deleteEncodeWait(needs.db, assetId);
      });
      if (asset && freeBytes !== undefined) await postpone(needs, asset, { neededBytes: bytes, freeBytes });
    },
    forChunks: (encode) => async (run) => {
      const asset = await needs.findAssetById(run.payload.assetId);
      const bytes = run.payload.bytes + (needs.store.localFile ? 0 : (asset?.size_bytes ?? 0));
      const freeBytes = await needs.scratchReservations.runWithin(asset ? bytes : 0, () => encode(run));
      if (asset && freeBytes !== undefined) await postponeChunk(needs, asset, run.payload);
    },
  };
}

type Space = { readonly neededBytes: number; readonly freeBytes: number };

/** Sends a new job, because a failed job has a limited number of retries. */
async function postpone(needs: SpaceNeeds, asset: Asset, space: Space): Promise<void> {
  const { id: assetId, attempt, owner_user_id: owner } = asset;
  const facts = { worker: needs.workerName, ...space };
  const wait = await needs.db.transaction(async (tx) => {
    await needs.jobs.sendFor(tx, owner, {
      name: 'encode-asset',
      payload: { assetId, attempt },
      startAfter: new Date(needs.now().getTime() + SPACE_RETRY_MS),
    });
    return recordEncodeWait(tx, { assetId, attempt, ...facts });
  });
  if (!wait?.is_new) return;
  const logged = { needed_bytes: space.neededBytes, free_bytes: space.freeBytes };
  needs.log.warn({ asset_id: assetId, ...logged }, 'an encode waits for space in the scratch folder');
  await needs.recordCheck(asset, {
    data: { source: 'service', reason: 'scratch_disk_full', ...logged },
    checkAt: asset.reconcile_at,
  });
}

async function postponeChunk(
  needs: SpaceNeeds,
  { owner_user_id: owner }: Asset,
  payload: JobPayloads['encode-chunk'],
): Promise<void> {
  const { assetId, number: chunk, bytes } = payload;
  const startAfter = new Date(needs.now().getTime() + SPACE_RETRY_MS);
  await needs.db.transaction((tx) =>
    needs.jobs.sendFor(tx, owner, { name: 'encode-chunk', payload, startAfter }),
  );
  needs.log.warn({ asset_id: assetId, chunk, bytes }, 'a chunk waits for space in the scratch folder');
}
