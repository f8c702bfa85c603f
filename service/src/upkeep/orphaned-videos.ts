// Removes videos that were made at a hosted provider and linked to no asset: what a crash between the two left (design §5).
import type { ProviderName } from '../assets/asset.ts';
import type { Database } from '../platform/postgres/database.ts';
import { isUuid } from '../platform/uuid.ts';
import type { ListedVideo, Providers } from '../providers/provider.ts';
import type { Call } from '../providers/provider-calls.ts';
import { findAssetsOfVideos } from './orphaned-videos.sql.ts';

export type StrayNeeds = {
  readonly db: Database;
  readonly providers: Providers;
  readonly call: Call;
  readonly now: () => Date;
};

const HOUR = 3_600_000;
/** Younger ones may be linked any moment; older ones were looked at before. */
const LOOKED_AT = { from: 1 * HOUR, to: 72 * HOUR };

/** Only videos whose asset stands in our database are touched: another service may share the provider's account. A provider that has trouble keeps no other waiting. */
export async function removeOrphanedVideos(needs: StrayNeeds): Promise<void> {
  const hosts = [...needs.providers.values()].filter(({ api }) => api).map(({ name }) => name);
  const outcomes = await Promise.allSettled(hosts.map((name) => removeStraysAt(needs, name)));
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  );
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `${failures.length} of ${hosts.length} providers could not be cleared of stray videos`,
    );
}

async function removeStraysAt(needs: StrayNeeds, name: ProviderName): Promise<void> {
  const listed = await needs.call(name, (api) => recent(api.list(), needs.now()));
  for (const { videoId } of await straysAmong(needs, listed))
    await needs.call(name, (api) => api.remove(videoId));
}

async function recent(videos: AsyncIterable<ListedVideo>, now: Date): Promise<ListedVideo[]> {
  const found: ListedVideo[] = [];
  for await (const video of videos) {
    const age = now.getTime() - video.createdAt.getTime();
    if (age > LOOKED_AT.to) break;
    if (age >= LOOKED_AT.from && video.assetId !== undefined && isUuid(video.assetId)) found.push(video);
  }
  return found;
}

async function straysAmong({ db }: StrayNeeds, videos: readonly ListedVideo[]): Promise<ListedVideo[]> {
  const assets = new Map(
    (
      await findAssetsOfVideos(
        db,
        videos.map(({ assetId }) => assetId as string),
      )
    ).map((asset) => [asset.id, asset]),
  );
  return videos.filter(({ videoId, assetId }) => {
    const asset = assets.get((assetId as string).toLowerCase());
    return asset !== undefined && (asset.is_gone || asset.provider_video_id !== videoId);
  });
}
