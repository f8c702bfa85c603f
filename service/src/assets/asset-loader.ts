// Reads assets in batches: under load each read costs a share of a statement.
import { createBatcher } from '../platform/concurrency/batcher.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Asset, AssetRef, PlayedAsset, VideoRef } from './asset.ts';
import { findAssets, findByVideos, findPlayedAssets } from './asset-loader.sql.ts';

export type AssetLoader = {
  /** A UUID, in either case. */
  readonly find: (id: string) => Promise<Asset | undefined>;
  /** The asset that a report names. */
  readonly findReported: (ref: AssetRef) => Promise<Asset | undefined>;
  /** The columns that players need. */
  readonly findPlayed: (id: string) => Promise<PlayedAsset | undefined>;
};

/** Two at once keep the database busy while this process reads an answer; a batch stays small enough to fail fast. */
const LIMITS = { concurrency: 2, maxItems: 100 };

export function createAssetLoader(db: Database): AssetLoader {
  const find = createBatcher((ids: readonly string[]) => findAssets(db, ids), LIMITS);
  const findPlayed = createBatcher((ids: readonly string[]) => findPlayedAssets(db, ids), LIMITS);
  const findByVideo = createBatcher((videos: readonly VideoRef[]) => findByVideos(db, videos), LIMITS);
  return {
    find: (id) => find(id.toLowerCase()),
    findReported: (ref) => ('assetId' in ref ? find(ref.assetId.toLowerCase()) : findByVideo(ref)),
    findPlayed: (id) => findPlayed(id.toLowerCase()),
  };
}
