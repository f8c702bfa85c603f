// Stores, replaces and deletes captions: of callers, and those that a video file contains (contract B2, B5).
import { randomUUID } from 'node:crypto';
import type { CaptionKind } from '@mediary/contract/enums';
import type { Asset, Caption } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import { isUnavailable, notFound, ServiceError } from '../platform/http/errors.ts';
import { captionKey } from '../storage/object-key.ts';
import { type CaptionFile, parseCaptionFile } from './caption-file.ts';
import { assertCaptionable, decideCaption, decideEmbedded, decideRemoval } from './caption-list.ts';
import type { CaptionsContext } from './context.ts';

type CaptionUpload = Pick<Caption, 'language' | 'label' | 'kind' | 'isDefault'> & {
  readonly file: CaptionFile;
  readonly actorData: EventData;
};

/** Escaped text is up to five times as long as the upload. */
const MAX_STORED_BYTES = 8 * 1024 * 1024;

export async function putCaption(
  ctx: CaptionsContext,
  asset: Asset,
  { actorData, ...upload }: CaptionUpload,
): Promise<Caption> {
  assertCaptionable(asset);
  const caption = await storeCaption(ctx, asset.id, { ...upload, isEmbedded: false });
  await publish(ctx, asset, {
    added: [caption],
    decide: (seen) => decideCaption(seen, caption, actorData),
    update: (ref, decide) =>
      ctx.usage.underQuota(asset.owner_user_id, () => ctx.lifecycle.update(ref, decide)),
  });
  return caption;
}

type Removal = { readonly language: string; readonly actorData: EventData };

export async function deleteCaption(
  ctx: CaptionsContext,
  asset: Asset,
  { language, actorData }: Removal,
): Promise<void> {
  await publish(ctx, asset, { added: [], decide: (seen) => decideRemoval(seen, language, actorData) });
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
  ctx: CaptionsContext,
  assetId: string,
  found: readonly EmbeddedCaption[],
): Promise<void> {
  const added: Caption[] = [];
  for (const { bytes, ...details } of found) {
    const file = readEmbedded(ctx, { assetId, language: details.language, bytes });
    if (!file) continue;
    // Many files mark their first subtitles as the default ones, whatever they are.
    const caption = { ...details, isDefault: false, isEmbedded: true, file };
    added.push(await storeCaption(ctx, assetId, caption));
  }
  await publish(ctx, { assetId }, { added, decide: (seen) => decideEmbedded(seen, added) });
}

function readEmbedded(
  { log }: CaptionsContext,
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

type ArchivedCaption = Pick<Caption, 'language' | 'label' | 'kind'> & { readonly bytes: Uint8Array };

/** Stores captions that a service has exported. No asset names them yet. Throws BAD_REQUEST. */
export const storeArchivedCaption = async (
  ctx: CaptionsContext,
  assetId: string,
  { bytes, ...details }: ArchivedCaption,
): Promise<Caption> => {
  const file = parseCaptionFile(bytes, { mustBeVtt: true, maxBytes: MAX_STORED_BYTES });
  return storeCaption(ctx, assetId, { ...details, isDefault: false, isEmbedded: false, file });
};

type NewCaption = Omit<Caption, 'fileId' | 'sizeBytes' | 'endMs' | 'updatedAt'> & {
  readonly file: CaptionFile;
};

/** Stores the file under a key of its own; nothing names it yet. */
async function storeCaption(
  { store, now }: CaptionsContext,
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
  /** Raises a refusal as a `ServiceError`, as `lifecycle.update` does. */
  readonly update?: CaptionsContext['lifecycle']['update'];
};

/** One statement publishes the captions with their event; files that nothing names any more are removed. */
async function publish(
  { lifecycle }: CaptionsContext,
  ref: Asset | { readonly assetId: string },
  { added, decide, update = lifecycle.update }: Publication,
): Promise<void> {
  let before: readonly Caption[] = [];
  const removeAll = async (files: readonly Caption[]): Promise<void> => {
    const assetId = 'id' in ref ? ref.id : ref.assetId;
    for (const { fileId } of files)
      await lifecycle.removeUnlessDeferred(assetId, captionKey(assetId, fileId));
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
