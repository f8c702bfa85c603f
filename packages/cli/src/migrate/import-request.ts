// Turns an item of a source into the request that imports it.
import { createHash } from 'node:crypto';
import type { Chapter, ImportRequest, Visibility } from '@mediary/client';
import type { ItemFacts, SourceFile, SourceName } from './source.ts';

/** What the operator wants for all assets. */
export type ImportOptions = {
  readonly visibility: Visibility | undefined;
  readonly tags: readonly string[];
  readonly provider: string | undefined;
};

const MAX_EXTERNAL_ID = 255;
const MAX_TITLE = 500;
const MAX_TAG = 100;
const MAX_TAGS = 50;
const MAX_METADATA_BYTES = 16 * 1024;
const MAX_CHAPTERS = 100;
const MAX_CHAPTER_TITLE = 200;
export const MAX_SITES = 20;
const MAX_FILENAME = 255;

/** The `external_id` of the asset: `cdnhost:<id>`. An id that is too long is replaced by its SHA-256. */
export function toExternalId(source: SourceName, id: string): string {
  const plain = `${source}:${id}`;
  if (plain.length <= MAX_EXTERNAL_ID) return plain;
  return `${source}:sha256:${createHash('sha256').update(id).digest('hex')}`;
}

type ImportInput = {
  readonly source: SourceName;
  readonly item: ItemFacts;
  readonly file: SourceFile;
  readonly options: ImportOptions;
};

/** Values beyond the limits of the API are cut: one long title must not stop a migration. */
export function toImportRequest({ source, item, file, options }: ImportInput): ImportRequest {
  const chapters = fitChapters(item.chapters, item.durationMs);
  const isVideo = file.mimeType.startsWith('video/');
  const isTimed = isVideo || file.mimeType.startsWith('audio/');
  return {
    url: file.url,
    filename: fitFilename(file.filename),
    mime_type: file.mimeType,
    external_id: toExternalId(source, item.id),
    title: fitTitle(item.title),
    tags: fitTags([...item.tags, ...options.tags]),
    metadata: fitMetadata(source, item),
    visibility: options.visibility ?? item.visibility,
    provider: isVideo ? options.provider : undefined,
    expires_at: item.expiresAt ?? undefined,
    ...(item.fileSizeBytes !== null && { size_bytes: item.fileSizeBytes }),
    ...(isTimed && chapters.length > 0 && { chapters }),
    ...(item.sites.length > 0 && { access: { referrers: item.sites.slice(0, MAX_SITES) } }),
  };
}

/** One line without control characters. */
const toLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();

/** Never half of a surrogate pair. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\ud800-\udbff]$/, '');

const fitTitle = (title: string | null): string | null => cut(toLine(title ?? ''), MAX_TITLE) || null;

function fitTags(tags: readonly string[]): string[] {
  const fitting = tags.map((tag) => cut(toLine(tag), MAX_TAG).trim()).filter((tag) => tag !== '');
  return [...new Set(fitting)].slice(0, MAX_TAGS);
}

/** Keeps the extension. */
function fitFilename(filename: string): string {
  const line = toLine(filename.split(/[/\\]/).at(-1) ?? '') || 'import';
  const end = line.lastIndexOf('.');
  const extension = end > 0 ? line.slice(end) : '';
  return line.length <= MAX_FILENAME ? line : cut(line, MAX_FILENAME - extension.length) + extension;
}

function fitMetadata(service: SourceName, { id, createdAt, metadata }: ItemFacts): Record<string, unknown> {
  const source = { service, id, created_at: createdAt };
  return isMetadataTooLarge(metadata) ? { source } : { ...metadata, source };
}

/** Leaves room for `source`, whose id has up to 1024 bytes. */
export const isMetadataTooLarge = (metadata: ItemFacts['metadata']): boolean =>
  Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA_BYTES - 2048;

/** In order, each start once, all before the end. */
function fitChapters(chapters: readonly Chapter[], durationMs: number | null): Chapter[] {
  const byStart = new Map<number, Chapter>();
  for (const { start_ms: start, title } of chapters) {
    const named = cut(toLine(title), MAX_CHAPTER_TITLE);
    const isInside = start >= 0 && (durationMs === null || start < durationMs);
    if (named !== '' && isInside && !byStart.has(start))
      byStart.set(start, { start_ms: start, title: named });
  }
  return [...byStart.values()].sort((a, b) => a.start_ms - b.start_ms).slice(0, MAX_CHAPTERS);
}
