// Stores, replaces and deletes captions: of callers, and those that a video file contains (contract B2, B5).
import { randomUUID } from 'node:crypto';
import type { CaptionKind } from '@mediary/contract/enums';
import type { Asset, Caption } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import type { removeUnlessDeferred } from '../lifecycle/deferred-removals.ts';
import type { AssetStore } from '../lifecycle/store.ts';
import type { Bound } from '../platform/bind.ts';
import { isUnavailable, notFound, ServiceError } from '../platform/errors.ts';
import type { UnderQuota } from '../usage/usage.ts';
import { captionKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { type CaptionFile, parseCaptionFile } from './caption-file.ts';
import { assertCaptionable, decideCaption, decideEmbedded, decideRemoval } from './caption-list.ts';

type CaptionNeeds = {
  readonly update: AssetStore['update'];
  readonly underQuota: UnderQuota;
  readonly store: ObjectStore;
  readonly removeUnlessDeferred: Bound<typeof removeUnlessDeferred>;
  readonly now: () => Date;
  readonly log: { warn(facts: object, message: string): void };
};

type CaptionUpload = Pick<Caption, 'language' | 'label' | 'kind' | 'isDefault'> & {
  readonly file: CaptionFile;
  readonly actorData: EventData;
};

/** Escaped text is up to five times as long as the upload. */
const MAX_STORED_BYTES = 8 * 1024 * 1024;

export async function putCaption(
  needs: CaptionNeeds,
  asset: Asset,
  { actorData, ...upload }: CaptionUpload,
): Promise<Caption> {
  assertCaptionable(asset);
  const caption = await storeCaption(needs, asset.id, { ...upload, isEmbedded: false });
  const update: AssetStore['update'] = (ref, decide) =>
    needs.underQuota(asset.owner_user_id, () => needs.update(ref, decide));
  await publish({ ...needs, update }, asset, {
    added: [caption],
    decide: (seen) => decideCaption(seen, caption, actorData),
  });
  return caption;
}

type Removal = { readonly language: string; readonly actorData: EventData };

export async function deleteCaption(
  needs: CaptionNeeds,
  asset: Asset,
  { language, actorData }: Removal,
): Promise<void> {
  await publish(needs, asset, { added: [], decide: (seen) => decideRemoval(seen, language, actorData) });
}

/** Text that an encoder found in a video file. */
type EmbeddedCaption = {
  readonly language: string;
  readonly label: string;
  readonly kind: CaptionKind;
  readonly bytes: Uint8Array;
};

/** Stores the captions that a video file contains. Unreadable ones are logged and left out. */
export async function storeEmbeddedCaptions(
  needs: CaptionNeeds,
  assetId: string,
  found: readonly EmbeddedCaption[],
): Promise<void> {
  const added: Caption[] = [];
  for (const { bytes, ...details } of found) {
    const file = readEmbedded(needs, { assetId, language: details.language, bytes });
    if (!file) continue;
    // Many files mark their first subtitles as the default ones, whatever they are.
    const caption = { ...details, isDefault: false, isEmbedded: true, file };
    added.push(await storeCaption(needs, assetId, caption));
  }
  await publish(needs, { assetId }, { added, decide: (seen) => decideEmbedded(seen, added) });
}

function readEmbedded(
  { log }: CaptionNeeds,
  { bytes, ...source }: { assetId: string; language: string; bytes: Uint8Array },
): CaptionFile | undefined {
  try {
    return parseCaptionFile(bytes);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    log.warn(
      { asset_id: source.assetId, language: source.language, err: error },
      'embedded captions are left out',
    );
    return undefined;
  }
}

type NewCaption = Omit<Caption, 'fileId' | 'sizeBytes' | 'endMs' | 'updatedAt'> & {
  readonly file: CaptionFile;
};

/** Stores the file under a key of its own; nothing names it yet. */
async function storeCaption(
  { store, now }: CaptionNeeds,
  assetId: string,
  { file, ...caption }: NewCaption,
): Promise<Caption> {
  const fileId = randomUUID();
  const bytes = [Buffer.from(file.text)];
  const { sizeBytes } = await store.put(captionKey(assetId, fileId), bytes, MAX_STORED_BYTES);
  return { ...caption, fileId, sizeBytes, endMs: file.endMs, updatedAt: now().toISOString() };
}

type Publication = {
  readonly added: readonly Caption[];
  readonly decide: (seen: Asset) => ReturnType<typeof decideEmbedded>;
};

/** One statement publishes the captions with their event; files that nothing names any more are removed. */
async function publish(
  { update, removeUnlessDeferred }: CaptionNeeds,
  ref: Asset | { readonly assetId: string },
  { added, decide }: Publication,
): Promise<void> {
  let before: readonly Caption[] = [];
  const removeAll = async (files: readonly Caption[]): Promise<void> => {
    const assetId = 'id' in ref ? ref.id : ref.assetId;
    for (const { fileId } of files) await removeUnlessDeferred(assetId, captionKey(assetId, fileId));
  };
  try {
    const updated = await update(ref, (seen) => {
      before = seen.captions ?? [];
      return decide(seen);
    });
    if (!updated) throw notFound('No such asset');
    const named = new Set(updated.asset.captions?.map(({ fileId }) => fileId));
    await removeAll([...before, ...added].filter(({ fileId }) => !named.has(fileId)));
  } catch (error) {
    // After a lost connection the row may name the files, so only a refusal removes them.
    if (error instanceof ServiceError && !isUnavailable(error)) await removeAll(added);
    throw error;
  }
}
