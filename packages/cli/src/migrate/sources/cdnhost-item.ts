// Maps a video of cdnhost (the API of Bunny Stream) to an item.
import type { Chapter } from '@mediary/client';
import { isMetadataTooLarge } from '../import-request.ts';
import { type ItemFacts, NO_FACTS, secondsToMs, toLanguage } from '../source.ts';

export type CdnhostVideo = {
  readonly guid: string;
  readonly title?: string | null;
  readonly description?: string | null;
  readonly dateUploaded?: string;
  readonly collectionId?: string | null;
  readonly status: number;
  /** Whole seconds. */
  readonly length?: number;
  readonly storageSize?: number;
  readonly availableResolutions?: string | null;
  readonly hasMP4Fallback?: boolean;
  readonly hasOriginal?: boolean | null;
  readonly originalHash?: string | null;
  readonly captions?: readonly CdnhostCaption[] | null;
  readonly chapters?: readonly { readonly title?: string; readonly start?: number }[] | null;
  readonly metaTags?: readonly { readonly property?: string; readonly value?: string }[] | null;
};

type CdnhostCaption = { readonly srclang?: string; readonly label?: string };

type CdnhostContext = {
  /** Names by the id of the collection. */
  readonly collections: ReadonlyMap<string, string>;
  /** Whether playback at the source needs tokens. */
  readonly isPrivate: boolean;
};

/** Finished, and playable while the rest is encoded. */
const PLAYABLE = new Set([4, 7, 8]);
const FAILED = new Set([5, 6]);

export function toCdnhostItem(video: CdnhostVideo, { collections, isPrivate }: CdnhostContext): ItemFacts {
  const collection = collections.get(video.collectionId ?? '');
  const metadata = toMetadata(video);
  const tags = (video.captions ?? []).map(({ srclang = '' }) => srclang);
  const unknown = tags.filter((tag) => toLanguage(tag) === undefined);
  return {
    ...NO_FACTS,
    id: video.guid,
    title: video.title ?? null,
    group: collection ?? null,
    createdAt: video.dateUploaded ?? null,
    durationMs: secondsToMs(video.length),
    sizeBytes: video.storageSize ?? null,
    fileSha256: video.hasOriginal ? toSha256(video.originalHash) : null,
    visibility: isPrivate ? 'private' : 'public',
    tags: collection === undefined ? [] : [collection],
    metadata,
    chapters: (video.chapters ?? []).flatMap(toChapter),
    problem: findProblem(video),
    notes: [
      ...(video.hasOriginal ? [] : ['The source has no original: an MP4 file is moved.']),
      ...(unknown.length > 0 ? [`Captions without a language tag are left out: ${unknown.join(', ')}.`] : []),
      ...(isMetadataTooLarge(metadata) ? ['The metadata is larger than 16 KiB and is left out.'] : []),
    ],
  };
}

function findProblem(video: CdnhostVideo): string | null {
  if (FAILED.has(video.status)) return 'The video failed at the source.';
  if (!PLAYABLE.has(video.status)) return 'The video is not ready at the source.';
  return video.hasOriginal || findHeights(video).length > 0
    ? null
    : 'The source has neither the original nor an MP4 file.';
}

/** Heights of the MP4 files, the largest first. */
export function findHeights({ hasMP4Fallback, availableResolutions }: CdnhostVideo): number[] {
  const heights = (availableResolutions ?? '').split(',').map((name) => Number.parseInt(name, 10));
  return hasMP4Fallback ? heights.filter((height) => height > 0).sort((a, b) => b - a) : [];
}

const toSha256 = (hash: string | null | undefined): string | null =>
  hash && /^[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : null;

function toMetadata({ description, collectionId, metaTags }: CdnhostVideo): Record<string, unknown> {
  const tags = (metaTags ?? []).flatMap(({ property, value }) => (property ? [[property, value ?? '']] : []));
  return {
    ...(description && { description }),
    ...(tags.length > 0 && { meta_tags: Object.fromEntries(tags) }),
    ...(collectionId && { collection_id: collectionId }),
  };
}

const toChapter = ({ title = '', start }: { title?: string; start?: number }): Chapter[] =>
  start === undefined ? [] : [{ title, start_ms: Math.round(start * 1000) }];

/** The type of an original, which has no extension, by its first bytes; undefined: not known. */
export function detectMimeType(head: Uint8Array): string | undefined {
  const text = Buffer.from(head).toString('latin1');
  if (text.slice(4, 8) === 'ftyp') return text.slice(8, 12) === 'qt  ' ? 'video/quicktime' : 'video/mp4';
  if (/^....(?:moov|mdat|wide|free|skip)/s.test(text)) return 'video/quicktime';
  if (text.startsWith('\x1aE\xdf\xa3')) return text.includes('webm') ? 'video/webm' : 'video/x-matroska';
  if (/^RIFF....AVI /s.test(text)) return 'video/x-msvideo';
  if (text.startsWith('FLV\x01')) return 'video/x-flv';
  if (text.startsWith('\0\0\x01\xba')) return 'video/mpeg';
  return text[0] === 'G' && text[188] === 'G' ? 'video/mp2t' : undefined;
}

const EXTENSIONS = new Map([
  ['video/quicktime', 'mov'],
  ['video/webm', 'webm'],
  ['video/x-matroska', 'mkv'],
  ['video/x-msvideo', 'avi'],
  ['video/x-flv', 'flv'],
  ['video/mpeg', 'mpg'],
  ['video/mp2t', 'ts'],
]);

/** Titles are often the name of the file that was uploaded. */
export function toFilename(title: string | null, mimeType: string): string {
  const extension = EXTENSIONS.get(mimeType) ?? 'mp4';
  const stem = (title ?? '')
    .replaceAll(/[/\\]/g, '-')
    .replace(/\.(?:mp4|m4v|mov|webm|mkv|avi|flv|mpe?g|m?ts)$/i, '');
  return `${stem.trim() || 'video'}.${extension}`;
}
