// Maps an asset of Mux to an item.
import { type ItemFacts, NO_FACTS, secondsToMs } from '../source.ts';

type MuxTrack = {
  readonly id: string;
  readonly type?: string;
  readonly text_type?: string;
  readonly language_code?: string;
  readonly name?: string;
  readonly closed_captions?: boolean;
  readonly status?: string;
};

export type MuxAsset = {
  readonly id: string;
  /** Seconds since 1970, as text. */
  readonly created_at?: string;
  readonly status?: string;
  readonly duration?: number;
  readonly passthrough?: string;
  readonly is_live?: boolean;
  readonly meta?: { readonly title?: string; readonly creator_id?: string; readonly external_id?: string };
  readonly errors?: { readonly messages?: readonly string[] };
  readonly playback_ids?: readonly { readonly id: string; readonly policy: string }[];
  readonly tracks?: readonly MuxTrack[];
  readonly master?: { readonly status?: string; readonly url?: string };
};

export function toMuxItem(asset: MuxAsset): ItemFacts {
  const { meta = {}, passthrough, tracks = [] } = asset;
  const isPublic = findPublicId(asset) !== undefined;
  const hasText = tracks.some(({ type }) => type === 'text');
  return {
    ...NO_FACTS,
    id: asset.id,
    title: meta.title ?? null,
    group: meta.creator_id ?? null,
    createdAt: toTime(asset.created_at),
    durationMs: secondsToMs(asset.duration),
    visibility: isPublic ? 'public' : 'private',
    metadata: {
      ...(passthrough && { passthrough }),
      ...(meta.creator_id && { creator_id: meta.creator_id }),
      ...(meta.external_id && { external_id: meta.external_id }),
    },
    problem: findProblem(asset),
    notes: hasText && !isPublic ? ['The captions are not moved: the asset has no public playback id.'] : [],
  };
}

export const findPublicId = ({ playback_ids: ids = [] }: MuxAsset): string | undefined =>
  ids.find(({ policy }) => policy === 'public')?.id;

/** An asset of sound alone becomes an audio asset. */
export const hasPicture = ({ tracks }: MuxAsset): boolean =>
  !tracks || tracks.some(({ type }) => type === 'video');

function findProblem({ status, is_live: isLive, errors }: MuxAsset): string | null {
  if (isLive) return 'The asset is a live stream that has not ended.';
  if (status === 'errored')
    return `The asset failed at the source: ${errors?.messages?.join(' ') || 'no reason'}`;
  if (status !== 'ready') return `The asset is not ready at the source: ${status ?? 'unknown'}.`;
  return null;
}

function toTime(seconds: string | undefined): string | null {
  const time = Number(seconds) * 1000;
  return seconds && Number.isFinite(time) ? new Date(time).toISOString() : null;
}
