// Chooses the renditions that the MP4 and M4A files of a video are made of (contract B5).
import { MAX_MP4_BYTES } from '../plan/arguments/extra-arguments.ts';
import {
  bySize,
  isH264,
  type ListedAudio,
  type ListedVariant,
  type Presentation,
} from '../packaging/hls-reader.ts';

const MAX_SHORT_SIDE = 1080;

/** The bytes of a file of this rendition; the container adds little. */
export const expectedBytes = ({ bitrate }: ListedVariant, seconds: number): number => (bitrate * seconds) / 8;

/** The largest H.264 rendition that simple players can play; undefined if all are too large. */
export const chooseMp4Video = ({ videos }: Presentation, seconds: number): ListedVariant | undefined =>
  bySize(videos).findLast(
    (video) =>
      isH264(video) &&
      Math.min(video.width, video.height) <= MAX_SHORT_SIDE &&
      expectedBytes(video, seconds) <= MAX_MP4_BYTES,
  );

/** The default track of the first group, which is stereo AAC; undefined for a video without sound. */
export function chooseAudio({ audios }: Presentation): ListedAudio | undefined {
  const group = audios.filter((audio) => audio.group === audios[0]?.group);
  return group.find(({ isDefault }) => isDefault) ?? group[0];
}
