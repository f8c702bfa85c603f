// Removes provider videos without an asset, which remain after a crash between creation and link (design §5).
import type { ProviderName } from '../assets/asset.ts';
import type { Bound } from '../platform/bind.ts';
import type { DatabaseNow } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import { isUuid } from '../platform/uuid.ts';
import type { handOverSweep } from '../providers/handover.ts';
import type { ListedVideo, Providers } from '../providers/provider.ts';
import type { CallProvider } from '../providers/provider-calls.ts';
import { findAssetsOfVideos } from './upkeep.sql.ts';

type OrphanedVideoNeeds = {
  readonly db: Database;
  readonly providers: Providers;
  readonly call: CallProvider;
  readonly databaseNow: DatabaseNow;
  readonly handOverSweep: Bound<typeof handOverSweep>;
};

const HOUR = 3_600_000;
/** A younger video may still be linked; earlier runs checked the older ones. */
const CHECKED_AGE = { from: 1 * HOUR, to: 72 * HOUR };

/**
 * Removes only videos created for an asset of this database, because services can share an account. A failing
 * provider does not delay the others.
 */
export async function removeOrphanedVideos(needs: OrphanedVideoNeeds): Promise<void> {
  await needs.handOverSweep();
  const names = [...needs.providers.values()].filter(({ api }) => api).map(({ name }) => name);
  const outcomes = await Promise.allSettled(names.map((name) => removeVideosAt(needs, name)));
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  );
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `Orphaned videos could not be removed at ${failures.length} of ${names.length} providers`,
    );
}

async function removeVideosAt(needs: OrphanedVideoNeeds, name: ProviderName): Promise<void> {
  const now = await needs.databaseNow();
  const videos = await needs.call(name, (api) => listRecent(api.list(), now));
  for (const { videoId } of await findOrphanedAmong(needs, videos))
    await needs.call(name, (api) => api.remove(videoId));
}

type CreatedVideo = ListedVideo & { readonly assetId: string };

async function listRecent(videos: AsyncIterable<ListedVideo>, now: Date): Promise<CreatedVideo[]> {
  const found: CreatedVideo[] = [];
  for await (const video of videos) {
    const age = now.getTime() - video.createdAt.getTime();
    if (age > CHECKED_AGE.to) break;
    const { assetId } = video;
    if (age >= CHECKED_AGE.from && assetId !== undefined && isUuid(assetId))
      found.push({ ...video, assetId });
  }
  return found;
}

async function findOrphanedAmong(
  { db }: OrphanedVideoNeeds,
  videos: readonly CreatedVideo[],
): Promise<CreatedVideo[]> {
  const ids = videos.map(({ assetId }) => assetId);
  const assets = new Map((await findAssetsOfVideos(db, ids)).map((asset) => [asset.id, asset]));
  return videos.filter(({ videoId, assetId }) => {
    const asset = assets.get(assetId.toLowerCase());
    return asset !== undefined && (asset.is_purged || asset.provider_video_id !== videoId);
  });
}
