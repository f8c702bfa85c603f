// Decides how the captions of an asset change: pure, because the store repeats it after a conflict.
import { MAX_CAPTION_LANGUAGES } from '@mediary/contract/operations/captions';
import type { Asset, Caption } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import type { AssetChange } from '../lifecycle/decisions/change.ts';
import { assertNotHeld } from '../lifecycle/decisions/legal-hold.ts';
import { conflict, notFound } from '../platform/http/errors.ts';

type CaptionTarget = Pick<Asset, 'kind' | 'provider' | 'playback'>;

/** Throws CONFLICT: manifests of others cannot name our captions. */
export function assertCaptionable({ kind, provider, playback }: CaptionTarget): void {
  if (kind === 'video' && provider === 'onprem' && playback?.kind !== 'urls') return;
  throw conflict('Captions can be added only to videos that this service encodes', {
    reason: 'not_encoded_here',
  });
}

/** Replaces the captions of the same language, which keep their place. */
export function decideCaption(seen: Asset, caption: Caption, actorData: EventData): AssetChange {
  assertLive(seen);
  assertCaptionable(seen);
  const known = (seen.captions ?? []).map((other) =>
    caption.isDefault ? { ...other, isDefault: false } : other,
  );
  const place = known.findIndex(({ language }) => language === caption.language);
  if (place >= 0) assertNotHeld(seen);
  if (place >= 0) return toChange(known.with(place, caption), actorData);
  if (known.length >= MAX_CAPTION_LANGUAGES)
    throw conflict(`The asset has captions in ${MAX_CAPTION_LANGUAGES} languages. Delete one first.`, {
      reason: 'too_many_captions',
      limit: MAX_CAPTION_LANGUAGES,
    });
  return toChange([...known, caption], actorData);
}

export function decideRemoval(seen: Asset, language: string, actorData: EventData): AssetChange {
  assertLive(seen);
  requireCaption(seen, language);
  assertNotHeld(seen);
  const others = (seen.captions ?? []).filter((caption) => caption.language !== language);
  return toChange(others, actorData);
}

/** Replaces the embedded captions of an earlier run; captions of callers stay. Undefined: nothing changes. */
export function decideEmbedded(seen: Asset, embedded: readonly Caption[]): AssetChange | undefined {
  if (seen.deleted_at) return undefined;
  const known = seen.captions ?? [];
  const given = known.filter(({ isEmbedded }) => !isEmbedded);
  const added = embedded
    .filter(({ language }) => !given.some((caption) => caption.language === language))
    .slice(0, Math.max(0, MAX_CAPTION_LANGUAGES - given.length));
  if (added.length === 0 && given.length === known.length) return undefined;
  return toChange([...given, ...added], { source: 'service' });
}

/** Throws NOT_FOUND. */
export function requireCaption({ captions }: Pick<Asset, 'captions'>, language: string): Caption {
  const found = captions?.find((caption) => caption.language === language);
  if (!found) throw notFound(`The asset has no captions in the language "${language}"`);
  return found;
}

function assertLive({ deleted_at: deleted }: Asset): void {
  if (deleted) throw notFound('No such asset');
}

const toChange = (captions: readonly Caption[], actorData: EventData): AssetChange => ({
  set: { captions: captions.length > 0 ? captions : null },
  events: [newEvent('asset.updated', { ...actorData, fields: ['captions'] })],
  jobs: [],
});
