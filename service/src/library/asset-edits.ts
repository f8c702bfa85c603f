// Edits the fields that callers own, such as title, visibility, poster time and focal point; revokes issued
// playback URLs (contract B2, B5).
import type { PurgeReason } from '@mediary/contract/enums';
import type { UpdateAssetRequest } from '@mediary/contract/schemas/library';
import type { Static } from 'typebox';
import type { Asset } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { assertEnforceable, hasViewerRules } from '../assets/access-rules.ts';
import { assertChapters } from '../assets/chapters.ts';
import { assertFocalPoint } from '../assets/focal-point.ts';
import { assertPosterTime, awaitsReport, isPosterDue } from '../assets/poster.ts';
import { assertTextLimits } from '../assets/text-limits.ts';
import { toEtag } from '../assets/asset-view.ts';
import type { JobRequest } from '../jobs.ts';
import { notFound } from '../platform/http/errors.ts';
import { toCdnPurges } from './cdn-purge.ts';
import type { LibraryContext } from './context.ts';
import { assertVersion } from './if-match.ts';

/** Omitted columns stay unchanged. */
export type Edit = Partial<Pick<Asset, Exclude<keyof Static<typeof UpdateAssetRequest>, 'owner_user_id'>>>;
type ToEdit = (seen: Asset) => Edit | undefined;
/** `ifMatch`: the request header; undefined accepts any version. */
type EditRequest = {
  readonly edit: Edit;
  readonly ifMatch: string | undefined;
  readonly actorData: EventData;
};

export async function editAsset(
  ctx: LibraryContext,
  asset: Asset,
  { edit, ...request }: EditRequest,
): Promise<Asset> {
  assertTextLimits(edit);
  return editMembers(ctx, asset, { toEdit: () => edit, ...request });
}

/** `toEdit` decides by the latest state of the asset; undefined changes nothing. */
export async function editMembers(
  ctx: LibraryContext,
  asset: Asset,
  { toEdit, ifMatch, actorData }: Omit<EditRequest, 'edit'> & { readonly toEdit: ToEdit },
): Promise<Asset> {
  const updated = await ctx.lifecycle.update(asset, (seen, now) => {
    if (seen.deleted_at) throw notFound('No such asset');
    assertVersion(seen, { ifMatch, etagOf: () => toEtag(seen, ctx.view) });
    const edit = toEdit(seen);
    if (!edit) return undefined;
    assertPosterTime(seen, { timeMs: edit.poster_time_ms, isHosted: ctx.providers.isHosted(seen) });
    assertFocalPoint(seen, edit.focal_point);
    assertChapters(seen, edit.chapters);
    if (edit.access) assertEnforceable(edit.access, enforcementOf(ctx, seen));
    const reason = findPurgeReason(seen, edit);
    const purges = reason ? toCdnPurges(ctx, seen, { reason, now }) : [];
    const jobs = [...jobsOf(seen, edit, ctx.providers.canSign(seen)), ...purges];
    const event = newEvent('asset.updated', { ...actorData, fields: Object.keys(edit) });
    return { set: toPatch(seen, edit), events: [event], jobs };
  });
  if (!updated) throw notFound('No such asset');
  return updated.asset;
}

const enforcementOf = ({ providers, settings }: LibraryContext, asset: Asset) => ({
  isElsewhere: providers.isHosted(asset) || asset.playback?.kind === 'urls',
  provider: asset.provider,
  knowsCountries: settings.countryHeader !== undefined,
});

function findPurgeReason(seen: Asset, edit: Edit): PurgeReason | undefined {
  if (isVisibilityChanged(seen, edit) && edit.visibility === 'private') return 'made_private';
  return isRestricted(seen, edit) ? 'access_restricted' : undefined;
}

/** The first rules for viewers: until now, caches could hold the files for everybody. */
const isRestricted = (seen: Asset, { access }: Edit): boolean =>
  access !== undefined && hasViewerRules(access) && !hasViewerRules(seen.access);

/** Issued tokens, cookies and download tickets become invalid at once. */
export async function revokePlayback(
  ctx: LibraryContext,
  asset: Asset,
  actorData: EventData,
): Promise<Asset> {
  const event = newEvent('asset.updated', { ...actorData, fields: [], reason: 'playback_revoked' });
  const updated = await ctx.lifecycle.update(asset, (seen, now) => {
    if (seen.deleted_at) throw notFound('No such asset');
    return {
      set: { playback_version: seen.playback_version + 1 },
      events: [event],
      jobs: toCdnPurges(ctx, seen, { reason: 'revoked', now }),
    };
  });
  if (!updated) throw notFound('No such asset');
  return updated.asset;
}

/** A change of visibility invalidates the issued playback tokens, and so do the first rules for viewers. */
const toPatch = (seen: Asset, edit: Edit) => ({
  ...edit,
  version: seen.version + 1,
  ...((isVisibilityChanged(seen, edit) || isRestricted(seen, edit)) && {
    playback_version: seen.playback_version + 1,
  }),
});

const isVisibilityChanged = (seen: Asset, { visibility }: Edit): boolean =>
  visibility !== undefined && visibility !== seen.visibility;

function jobsOf(seen: Asset, edit: Edit, canSign: boolean): JobRequest[] {
  const payload = { assetId: seen.id };
  const next = { ...seen, ...edit };
  // A worker that protects the video need not have the key, so the decision is made here.
  const needsProtection =
    seen.provider_video_id !== null &&
    isVisibilityChanged(seen, edit) &&
    (canSign || next.visibility === 'public');
  const needsPoster =
    isPosterDue(next) || (awaitsReport(seen) && seen.poster_time_ms !== next.poster_time_ms);
  return [
    ...(needsProtection ? [{ name: 'protect-video', payload } as const] : []),
    ...(needsPoster ? [{ name: 'make-poster', payload } as const] : []),
  ];
}
