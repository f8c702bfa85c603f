// Edits what belongs to the caller: title, tags, metadata, visibility, poster (contract B2).
import type { ServiceJobs, StartJob } from '../jobs.ts';
import { notFound } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Asset } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { type Edited, storeEdit } from './asset-edits.sql.ts';
import { assertVersion } from './if-match.ts';
import { assertTextLimits } from '../assets/text-limits.ts';
import { awaitsReport, isPosterDue, assertPosterTime } from '../assets/poster.ts';

export type EditNeeds = {
  readonly db: Database;
  readonly jobs: ServiceJobs;
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly now: () => Date;
  /** Whether somebody else makes the pictures of this video. */
  readonly isHosted: (asset: Asset) => boolean;
};

/** What is absent stays as it is. */
export type Edit = Partial<Edited>;
/** `ifMatch` as it was sent; undefined: whatever the version is. */
export type Editing = { readonly edit: Edit; readonly ifMatch: string | undefined; readonly note: EventData };

const MAX_RACES = 50;

export async function edit(
  needs: EditNeeds,
  asset: Asset,
  { edit: wished, ifMatch, note }: Editing,
): Promise<Asset> {
  assertTextLimits(wished);
  let seen: Asset | undefined = asset;
  for (let race = 0; race < MAX_RACES; race++) {
    if (!seen || seen.deleted_at) throw notFound('No such asset');
    assertVersion(seen, ifMatch);
    assertPosterTime(seen, { timeMs: wished.poster_time_ms, isHosted: needs.isHosted(seen) });
    const { title, tags, metadata, visibility, poster_time_ms } = { ...seen, ...wished };
    const event = newEvent('asset.updated', { ...note, fields: Object.keys(wished) });
    const stored = await store(needs, seen, {
      next: { title, tags, metadata, visibility, poster_time_ms },
      event,
      now: needs.now(),
    });
    if (stored) return stored;
    seen = await needs.findAssetById(asset.id);
  }
  throw new Error(`asset changed ${MAX_RACES} times while it was edited`);
}

/** What an edit leads to is stored with it. */
function store(
  { db, jobs }: EditNeeds,
  seen: Asset,
  edit: Parameters<typeof storeEdit>[2],
): Promise<Asset | undefined> {
  const starting = jobsOf(seen, edit.next);
  if (starting.length === 0) return storeEdit(db, seen, edit);
  return db.transaction(async (tx) => {
    const stored = await storeEdit(tx, seen, edit);
    if (stored) for (const { name, payload } of starting) await jobs.send(tx, name, payload as never);
    return stored;
  });
}

/** A provider that guards single videos is told when their visibility changes; a video of ours gets the thumbnail that is wanted. */
function jobsOf(seen: Asset, next: Edited): StartJob[] {
  const payload = { assetId: seen.id };
  const needsPoster =
    isPosterDue({ ...seen, ...next }) || (awaitsReport(seen) && seen.poster_time_ms !== next.poster_time_ms);
  return [
    ...(seen.provider_video_id !== null && seen.visibility !== next.visibility
      ? [{ name: 'protect-video', payload } as const]
      : []),
    ...(needsPoster ? [{ name: 'make-poster', payload } as const] : []),
  ];
}
