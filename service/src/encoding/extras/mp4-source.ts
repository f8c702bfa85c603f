// Chooses the renditions that the MP4 and M4A files of a video are made of (contract B5).
import { bySize, type ListedAudio, type ListedVideo, type Presentation } from '../packaging/hls-reader.ts';

/** Of the file: 4 GiB hold two hours of 720p. */
export const MAX_MP4_BYTES = 4 * 1024 ** 3;
const MAX_SHORT_SIDE = 1080;

const isH264 = (codec: string): boolean => codec.startsWith('avc1.');
const isAac = (codec: string): boolean => codec.startsWith('mp4a.40.');

/** The bytes of a file of this rendition; container overhead is far below the tolerance of the limit. */
export const expectedBytes = ({ bitrate }: ListedVideo, seconds: number): number => (bitrate * seconds) / 8;

/** The largest H.264 rendition that simple players can play; undefined if all are too large. */
export function chooseMp4Video({ videos }: Presentation, seconds: number): ListedVideo | undefined {
  return bySize(videos).findLast(
    (video) =>
      video.codecs.some(isH264) &&
      video.codecs.every((codec) => isH264(codec) || isAac(codec)) &&
      Math.min(video.width, video.height) <= MAX_SHORT_SIDE &&
      expectedBytes(video, seconds) <= MAX_MP4_BYTES,
  );
}

/** The default track of an AAC group; undefined for a video without one. */
export function chooseAudio({ videos, audios }: Presentation): ListedAudio | undefined {
  const groups = new Set(
    videos.filter(({ codecs }) => codecs.some(isAac)).map(({ audioGroup }) => audioGroup),
  );
  const candidates = audios.filter(({ group }) => groups.has(group));
  return candidates.find(({ isDefault }) => isDefault) ?? candidates[0];
}
