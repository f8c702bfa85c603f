// Reads and writes of assets that come at once travel together: under load each costs a share of a statement and of a commit.
import { createBatcher } from '../platform/concurrency/batcher.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Asset, VideoRef } from '../assets/asset.ts';
import { findAssets, findByVideos, insertAssets, type Making } from './assets.sql.ts';
import { recordDeliveries, type DeliveryRecord, type PendingWrite, storeChanges } from './store.sql.ts';

export type AssetBatches = {
  /** A UUID, in either case. */
  readonly find: (id: string) => Promise<Asset | undefined>;
  readonly findByVideo: (video: VideoRef) => Promise<Asset | undefined>;
  /** Undefined where an asset of this id was made before. */
  readonly insert: (making: Making) => Promise<Asset | undefined>;
  /** Undefined where another change was faster. */
  readonly store: (move: PendingWrite) => Promise<Asset | undefined>;
  readonly keepDelivery: (kept: DeliveryRecord) => Promise<undefined>;
};

/** Two at once keep the database busy while this process reads an answer; a batch stays small enough to fail fast. */
const LIMITS = { concurrency: 2, maxItems: 100 };
/** Of the bytes of deliveries, which travel as text of twice their size. */
const HEAVIEST = 4 * 1024 * 1024;

export function assetBatches(db: Database): AssetBatches {
  const find = createBatcher((ids: readonly string[]) => findAssets(db, ids), LIMITS);
  return {
    find: (id) => find(id.toLowerCase()),
    findByVideo: createBatcher((videos: readonly VideoRef[]) => findByVideos(db, videos), LIMITS),
    insert: createBatcher((makings: readonly Making[]) => insertAssets(db, makings), LIMITS),
    store: createBatcher((moves: readonly PendingWrite[]) => storeChanges(db, moves), {
      ...LIMITS,
      weightOf: ({ kept }) => weightOf(kept),
      maxWeight: HEAVIEST,
    }),
    keepDelivery: createBatcher((kept: readonly DeliveryRecord[]) => recordDeliveries(db, kept), {
      ...LIMITS,
      weightOf: weightOf,
      maxWeight: HEAVIEST,
    }),
  };
}

const weightOf = (kept: DeliveryRecord | undefined): number => kept?.delivery.body.length ?? 0;
