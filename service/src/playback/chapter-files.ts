// Formats the chapters of a video for players: WebVTT for `<track>`, and the JSON that HLS names.
import { createHash } from 'node:crypto';
import type { Chapter } from '@mediary/contract/schemas/assets/chapters';
import type { PlaybackAsset } from '../assets/asset.ts';
import { escapeXml } from '../assets/markup.ts';
import { formatTime } from '../captions/caption-file.ts';

const VTT = 'chapters.vtt';
const JSON_NAME = 'chapters.json';

export const isChapterFile = (path: string): boolean => path === VTT || path === JSON_NAME;

type Chaptered = Pick<PlaybackAsset, 'playback' | 'chapters' | 'duration_ms'>;

/** Null for a video without chapters. `base`: the playback path, absolute or relative. */
export const chaptersUrl = (asset: Chaptered, base: string): string | null => {
  const path = versionedPath(asset, VTT);
  return path === undefined ? null : `${base}/${path}`;
};

/** The JSON that the HLS manifest names, relative to it; undefined for a video without chapters. */
export const chaptersJsonUri = (asset: Chaptered): string | undefined => versionedPath(asset, JSON_NAME);

/** With the version, so that caches never serve replaced chapters. */
function versionedPath(asset: Chaptered, name: string): string | undefined {
  if (asset.playback?.kind !== 'own' || playedChapters(asset).length === 0) return undefined;
  return `${name}?v=${chaptersVersion(asset)}`;
}

/** Chapters that a caller set before the duration was known may start after the end. */
const playedChapters = ({ chapters, duration_ms: durationMs }: Chaptered): readonly Chapter[] =>
  (chapters ?? []).filter(({ start_ms: start }) => durationMs === null || start < durationMs);

export const chaptersVersion = (asset: Chaptered): string =>
  createHash('sha256')
    .update(JSON.stringify([playedChapters(asset), asset.duration_ms]))
    .digest('hex')
    .slice(0, 12);

/** Empty WebVTT without chapters: a player asks for the file before it knows whether there are any. */
export function formatChapters(asset: Chaptered, path: string): string {
  const chapters = playedChapters(asset);
  const ranges = chapters.map(({ start_ms: start, title }, index) => ({
    title,
    start,
    end: chapters[index + 1]?.start_ms ?? asset.duration_ms ?? start + LAST_MS,
  }));
  return path === VTT ? formatVtt(ranges) : formatJson(ranges);
}

/** Length of the last chapter while the duration of the video is unknown. */
const LAST_MS = 1000;

type ChapterRange = { readonly start: number; readonly end: number; readonly title: string };

const formatVtt = (ranges: readonly ChapterRange[]): string =>
  ['WEBVTT', ...ranges.map(formatCue), ''].join('\n\n');

/** Line breaks are no part of a title. */
const formatCue = ({ start, end, title }: ChapterRange): string =>
  `${formatTime(start)} --> ${formatTime(end)}\n${escapeXml(title.replace(/\s+/g, ' '))}`;

/** "Providing Metadata for HLS", JSON Chapters (Apple): times in seconds, titles by language. */
const formatJson = (ranges: readonly ChapterRange[]): string =>
  JSON.stringify(
    ranges.map(({ start, end, title }, index) => ({
      chapter: index + 1,
      'start-time': start / 1000,
      duration: (end - start) / 1000,
      titles: [{ language: 'und', title }],
    })),
  );
