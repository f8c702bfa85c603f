// Formats captions for manifests, which are rendered when they are served: captions change after the encode.
import type { Caption } from '../assets/asset.ts';
import { escapeXml } from '../assets/markup.ts';

/** Folder of captions in the paths of players. */
const CAPTIONS_FOLDER = 'captions';

/** The path of a file of captions, relative to the manifests. */
const captionPath = ({ language }: Pick<Caption, 'language'>, extension: 'vtt' | 'm3u8'): string =>
  `${CAPTIONS_FOLDER}/${language}.${extension}`;

/** With the version, so that caches never serve replaced captions. */
export const captionUrl = (caption: Pick<Caption, 'language' | 'fileId'>): string =>
  `${captionPath(caption, 'vtt')}?v=${captionVersion(caption)}`;

/** The random end of the id. */
export const captionVersion = ({ fileId }: Pick<Caption, 'fileId'>): string => fileId.slice(-12);

type NamedCaptionFile = { readonly caption: Caption; readonly extension: 'vtt' | 'm3u8' };

/** DASH players resolve the path of captions against the folder of the segments. */
const RUN_FOLDER = /^\d+-\d+\//;

/** The captions that a path of a player names; undefined if there are none. */
export function findNamedCaption(
  captions: readonly Caption[] | null,
  path: string,
): NamedCaptionFile | undefined {
  const named = path.replace(RUN_FOLDER, '');
  for (const caption of captions ?? [])
    for (const extension of ['vtt', 'm3u8'] as const)
      if (captionPath(caption, extension) === named) return { caption, extension };
  return undefined;
}

/** A media playlist with one segment, the whole file (RFC 8216, 3.5). */
export function formatCaptionPlaylist(caption: Caption, videoMs: number | null): string {
  const seconds = Math.max(videoMs ?? 0, caption.endMs, 1) / 1000;
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    `#EXT-X-TARGETDURATION:${Math.ceil(seconds)}`,
    `#EXTINF:${seconds.toFixed(3)},`,
    captionUrl(caption).slice(CAPTIONS_FOLDER.length + 1),
    '#EXT-X-ENDLIST',
    '',
  ].join('\n');
}

export const SUBTITLE_GROUP = 'subs';

/** The lines of the subtitle group in a multivariant playlist. */
export const formatSubtitleMedia = (captions: readonly Caption[]): readonly string[] =>
  nameUniquely(captions).map(({ name, caption }) => toMediaTag(name, caption));

/** For viewers who do not hear: players offer them apart from translations. */
const TRANSCRIBES =
  'public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound';

const toMediaTag = (name: string, caption: Caption): string =>
  [
    `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="${SUBTITLE_GROUP}"`,
    `NAME="${name}"`,
    `LANGUAGE="${caption.language}"`,
    `DEFAULT=${caption.isDefault ? 'YES' : 'NO'}`,
    'AUTOSELECT=YES',
    'FORCED=NO',
    ...(caption.kind === 'captions' ? [`CHARACTERISTICS="${TRANSCRIBES}"`] : []),
    `URI="${captionPath(caption, 'm3u8')}"`,
  ].join(',');

/** Names differ within a group (RFC 8216, 4.3.4.1.1), and a quoted string has no quotes. */
function nameUniquely(captions: readonly Caption[]): { name: string; caption: Caption }[] {
  const names = captions.map(({ label }) => label.replaceAll('"', "'"));
  return captions.map((caption, index) => {
    const name = names[index] as string;
    return { caption, name: names.indexOf(name) === index ? name : `${name} (${caption.language})` };
  });
}

/**
 * The lines of one adaptation set for each language in a DASH manifest, each with the whole file. ffmpeg does
 * not resolve `..`, so the path is below the folder of the segments.
 */
export const formatCaptionSets = (captions: readonly Caption[]): readonly string[] =>
  captions.flatMap(toAdaptationSet);

/** Ids of other adaptation sets are lower. */
const FIRST_ID = 1000;
/** Required by the schema; a file of text needs no bandwidth to speak of. */
const BANDWIDTH = 1000;

const toAdaptationSet = (caption: Caption, index: number): string[] => [
  `    <AdaptationSet id="${FIRST_ID + index}" contentType="text" mimeType="text/vtt" ` +
    `lang="${caption.language}">`,
  `      <Label>${escapeXml(caption.label)}</Label>`,
  ...(caption.kind === 'captions' ? [role('caption')] : [role('subtitle')]),
  ...(caption.isDefault ? [role('main')] : []),
  `      <Representation id="captions-${caption.language}" bandwidth="${BANDWIDTH}">`,
  `        <BaseURL>${captionUrl(caption)}</BaseURL>`,
  '      </Representation>',
  '    </AdaptationSet>',
];

const role = (value: string): string =>
  `      <Role schemeIdUri="urn:mpeg:dash:role:2011" value="${value}"/>`;
