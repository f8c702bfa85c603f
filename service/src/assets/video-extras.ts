// The files that a video has beside its renditions: storyboard, preview, MP4 and sound track (contract B5).

/** In the order in which they are made. */
export const VIDEO_EXTRAS = ['storyboard', 'preview', 'audio', 'mp4'] as const;
export type VideoExtra = (typeof VIDEO_EXTRAS)[number];

/** File names in the folder of the run, and below the playback path. */
export const EXTRA_FILES: Readonly<Record<VideoExtra, string>> = {
  storyboard: 'storyboard.vtt',
  preview: 'preview.webp',
  audio: 'audio.m4a',
  mp4: 'video.mp4',
};

/** Those of `chosen` that an asset can have: an audio asset has no pictures. */
export const selectExtras = (
  chosen: readonly VideoExtra[],
  kind: 'video' | 'audio',
): readonly VideoExtra[] => (kind === 'audio' ? chosen.filter((extra) => extra === 'audio') : chosen);

/** Null for files that do not exist. */
type ExtraUrls = Readonly<Record<VideoExtra, string | null>>;

/** `extras`: the existing files; `base`: the playback path of the asset. */
export function toExtraUrls(extras: readonly VideoExtra[], base: string): ExtraUrls {
  const urlOf = (extra: VideoExtra) => (extras.includes(extra) ? `${base}/${EXTRA_FILES[extra]}` : null);
  return {
    storyboard: urlOf('storyboard'),
    preview: urlOf('preview'),
    audio: urlOf('audio'),
    mp4: urlOf('mp4'),
  };
}
