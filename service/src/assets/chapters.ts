// Rules for the chapters of a video: those that callers set, and those of files (contract B11).
import { type Chapter, MAX_CHAPTER_TITLE, MAX_CHAPTERS } from '@mediary/contract/schemas/assets/chapters';
import { badRequest } from '../platform/http/errors.ts';
import { isPlainText, notPlainText } from '../platform/values/plain-text.ts';
import type { Asset } from './asset.ts';
import { toPlainText } from './text-limits.ts';

type ChapterEdit = readonly Chapter[] | null | undefined;

/** Throws BAD_REQUEST with the field. Null and an empty list are valid for every asset. */
export function assertChapters(
  { kind, duration_ms: durationMs }: Pick<Asset, 'kind' | 'duration_ms'>,
  chapters: ChapterEdit,
): void {
  if (!chapters || chapters.length === 0) return;
  if (kind === 'image')
    throw badRequest('chapters can be set only for videos and audio, and this asset is an image', {
      field: 'chapters',
    });
  for (const [index, { start_ms: start, title }] of chapters.entries()) {
    const field = `chapters.${index}`;
    const earlier = chapters[index - 1]?.start_ms ?? -1;
    if (start <= earlier)
      throw badRequest(`${field}.start_ms must be greater than that of the chapter before it: ${earlier}`, {
        field: `${field}.start_ms`,
        reason: 'below_minimum',
        limit: earlier + 1,
      });
    if (durationMs !== null && start >= durationMs)
      throw badRequest(`${field}.start_ms must be less than the duration of the video: ${durationMs}`, {
        field: `${field}.start_ms`,
        reason: 'above_maximum',
        limit: durationMs - 1,
      });
    if (!isPlainText(title)) throw notPlainText(`${field}.title`);
  }
}

/** Drops unknown members. Null stands for an empty list: the file's own chapters do not return. */
export const toChapters = (chapters: readonly Chapter[] | null): Chapter[] =>
  (chapters ?? []).map(({ start_ms, title }) => ({ start_ms, title }));

/** The chapters of a part of the video, on the clock of the part; null where the part has no two of them. */
export function cutChapters(
  chapters: readonly Chapter[] | null,
  { start_ms: start, end_ms: end }: Readonly<Record<'start_ms' | 'end_ms', number>>,
): Chapter[] | null {
  const began = (chapters ?? []).filter((chapter) => chapter.start_ms < end);
  const first = began.findLastIndex((chapter) => chapter.start_ms <= start);
  const cut = began
    .slice(Math.max(0, first))
    .map(({ start_ms, title }) => ({ start_ms: Math.max(0, start_ms - start), title }));
  return cut.length > 1 ? cut : null;
}

/**
 * Storable chapters of a third party, in order: without those that start after the end, or together with
 * another one. Empty for fewer than two, which divide nothing.
 */
export function readChapters(value: unknown, durationMs = Number.POSITIVE_INFINITY): Chapter[] {
  if (!Array.isArray(value)) return [];
  const byStart = new Map<number, Chapter>();
  for (const [index, entry] of value.entries()) {
    const { start_ms: start, title } = (entry ?? {}) as Partial<Record<keyof Chapter, unknown>>;
    if (!Number.isSafeInteger(start) || Number(start) < 0 || Number(start) >= durationMs) continue;
    if (byStart.has(Number(start))) continue;
    const named = toPlainText(title, MAX_CHAPTER_TITLE) ?? `Chapter ${index + 1}`;
    byStart.set(Number(start), { start_ms: Number(start), title: named });
  }
  const sorted = [...byStart.values()].sort((a, b) => a.start_ms - b.start_ms).slice(0, MAX_CHAPTERS);
  return sorted.length > 1 ? sorted : [];
}
