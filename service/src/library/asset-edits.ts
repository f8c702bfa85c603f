// Edits what belongs to the caller: title, tags, metadata, visibility, poster (contract B2).
import type { Asset } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { assertPosterTime, awaitsReport, isPosterDue } from '../assets/poster.ts';
import { assertTextLimits } from '../assets/text-limits.ts';
import type { StartJob } from '../jobs.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import { notFound } from '../platform/errors.ts';
import { assertVersion } from './if-match.ts';

export type EditNeeds = {
  readonly update: AssetStore['update'];
  /** Whether somebody else makes the pictures of this video. */
  readonly isHosted: (asset: Asset) => boolean;
};

/** The columns that callers may edit; an omitted one stays as it is. */
export type Edit = Partial<Pick<Asset, 'title' | 'tags' | 'metadata' | 'visibility' | 'poster_time_ms'>>;
/** `ifMatch` as it was sent; undefined: whatever the version is. */
export type Editing = { readonly edit: Edit; readonly ifMatch: string | undefined; readonly note: EventData };

export async function edit(
  { update, isHosted }: EditNeeds,
  asset: Asset,
  { edit: wished, ifMatch, note }: Editing,
): Promise<Asset> {
  assertTextLimits(wished);
  const event = newEvent('asset.updated', { ...note, fields: Object.keys(wished) });
  const updated = await update(asset, (seen) => {
    if (seen.deleted_at) throw notFound('No such asset');
    assertVersion(seen, ifMatch);
    assertPosterTime(seen, { timeMs: wished.poster_time_ms, isHosted: isHosted(seen) });
    return { set: toPatch(seen, wished), events: [event], jobs: jobsOf(seen, wished) };
  });
  if (!updated) throw notFound('No such asset');
  return updated.asset;
}

/** A change of visibility ends the playback tokens that are out. */
const toPatch = (seen: Asset, edit: Edit) => ({
  ...edit,
  version: seen.version + 1,
  ...(isVisibilityChanged(seen, edit) && { playback_version: seen.playback_version + 1 }),
});

const isVisibilityChanged = (seen: Asset, { visibility }: Edit): boolean =>
  visibility !== undefined && visibility !== seen.visibility;

/** A provider that guards single videos is told when their visibility changes; a video of ours gets the thumbnail that is wanted. */
function jobsOf(seen: Asset, edit: Edit): StartJob[] {
  const payload = { assetId: seen.id };
  const next = { ...seen, ...edit };
  const needsPoster =
    isPosterDue(next) || (awaitsReport(seen) && seen.poster_time_ms !== next.poster_time_ms);
  return [
    ...(seen.provider_video_id !== null && isVisibilityChanged(seen, edit)
      ? [{ name: 'protect-video', payload } as const]
      : []),
    ...(needsPoster ? [{ name: 'make-poster', payload } as const] : []),
  ];
}
