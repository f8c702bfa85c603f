// Removes provider videos without an asset, which remain after a crash between creation and link (design §5).
import type { ProviderName } from '../assets/asset.ts';
import { assertTrustedClock } from '../platform/postgres/database-clock.ts';
import { isUuid } from '../platform/values/uuid.ts';
import type { ListedVideo } from '../providers/provider.ts';
import type { UpkeepContext } from './context.ts';
import { findAssetsOfVideos } from './upkeep.sql.ts';

const HOUR = 3_600_000;
/** A younger video may still be linked; earlier runs checked the older ones. */
const CHECKED_AGE = { from: 1 * HOUR, to: 72 * HOUR };

/**
 * Removes only videos created for an asset of this database, because services can share an account. A failing
 * provider does not delay the others.
 */
export async function removeOrphanedVideos(ctx: UpkeepContext): Promise<void> {
  await assertTrustedClock(ctx.clocks);
  await ctx.providers.handOverSweep();
  const names = [...ctx.providers.registry.values()].filter(({ api }) => api).map(({ name }) => name);
  const results = await Promise.allSettled(names.map((name) => removeVideosAt(ctx, name)));
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `Orphaned videos could not be removed at ${failures.length} of ${names.length} providers`,
    );
}

async function removeVideosAt(ctx: UpkeepContext, name: ProviderName): Promise<void> {
  const now = await ctx.clocks.databaseNow();
  const videos = await ctx.providers.call(name, (api) => listRecent(api.list(), now));
  for (const { videoId } of await findOrphanedAmong(ctx, videos))
    await ctx.providers.call(name, (api) => api.remove(videoId));
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
  { db }: UpkeepContext,
  videos: readonly CreatedVideo[],
): Promise<CreatedVideo[]> {
  const ids = videos.map(({ assetId }) => assetId);
  const assets = new Map((await findAssetsOfVideos(db, ids)).map((asset) => [asset.id, asset]));
  return videos.filter(({ videoId, assetId }) => {
    const asset = assets.get(assetId.toLowerCase());
    return asset !== undefined && (asset.is_purged || asset.provider_video_id !== videoId);
  });
}
