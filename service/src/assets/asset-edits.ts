// Edits what belongs to the caller: title, tags, metadata, visibility (contract B2).
import type { ServiceJobs } from '../job-list.ts';
import { notFound } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Asset } from './asset.ts';
import { type EventData, newEvent } from './asset-event.ts';
import { type Edited, storeEdit } from './asset-edits.sql.ts';
import { requireVersion } from './if-match.ts';
import { requireFitting } from './own-text.ts';

export type EditNeeds = { readonly db: Database; readonly jobs: ServiceJobs; readonly byId: (id: string) => Promise<Asset | undefined>; readonly now: () => Date };

/** What is absent stays as it is. */
export type Edit = Partial<Edited>;
/** `ifMatch` as it was sent; undefined: whatever the version is. */
export type Editing = { readonly edit: Edit; readonly ifMatch: string | undefined; readonly note: EventData };

const MAX_RACES = 50;

export async function edit(needs: EditNeeds, asset: Asset, { edit: wished, ifMatch, note }: Editing): Promise<Asset> {
  requireFitting(wished);
  let seen: Asset | undefined = asset;
  for (let race = 0; race < MAX_RACES; race++) {
    if (!seen || seen.deleted_at) throw notFound('No such asset');
    requireVersion(seen, ifMatch);
    const { title, tags, metadata, visibility } = { ...seen, ...wished };
    const event = newEvent('asset.updated', { ...note, fields: Object.keys(wished) });
    const stored = await store(needs, seen, { next: { title, tags, metadata, visibility }, event, now: needs.now() });
    if (stored) return stored;
    seen = await needs.byId(asset.id);
  }
  throw new Error(`asset changed ${MAX_RACES} times while it was edited`);
}

/** A provider that guards single videos is told by a job when their visibility changes. */
function store({ db, jobs }: EditNeeds, seen: Asset, edit: Parameters<typeof storeEdit>[2]): Promise<Asset | undefined> {
  if (seen.provider_video_id === null || seen.visibility === edit.next.visibility) return storeEdit(db, seen, edit);
  return db.transaction(async (tx) => {
    const stored = await storeEdit(tx, seen, edit);
    if (stored) await jobs.send(tx, 'protect-video', { assetId: seen.id });
    return stored;
  });
}
