// Reads the properties of a video with mediabunny, or finds out why it is refused (contract B4).
import {
  type Input,
  type InputFormat,
  type InputVideoTrack,
  MATROSKA,
  MP4,
  MPEG_TS,
  QTFF,
  WEBM,
} from 'mediabunny';
import { MAX_VIDEO_PIXELS } from './file-limits.ts';
import { durationOf, isTruncated } from './probe-tracks.ts';
import type { DefaultContainer, MediaFacts, ProbeResult } from './video-facts.ts';
import { readTraits, undefinedIfBroken } from './video-traits.ts';

/** Only the declared container, because a playlist could open other files. */
export const PROBED_FORMATS: Record<DefaultContainer, InputFormat[]> = {
  mov: [MP4, QTFF],
  matroska: [MATROSKA, WEBM],
  mpegts: [MPEG_TS],
};

type Size = readonly [width: number | null, height: number | null];
const UNKNOWN: Size = [null, null];

/** `input` has the formats of `container`. Never rejects because of the bytes of the file. */
export async function probeVideo(input: Input, container: DefaultContainer): Promise<ProbeResult> {
  const tracks = await undefinedIfBroken(input.getTracks());
  const video = tracks?.find((track) => track.isVideoTrack());
  const audio = tracks?.find((track) => track.isAudioTrack());
  if (!tracks || (tracks.length === 0 && !isLeftToEncoder(container))) return { refused: 'not_media' };
  if (!video && !isLeftToEncoder(container)) return { refused: 'no_video_track' };
  const displaySize = video ? await readDisplaySize(video) : UNKNOWN;
  if (video && (isTooLarge(displaySize) || isTooLarge(await readCodedSize(video))))
    return { refused: 'picture_too_large' };
  const used = [video, audio].filter((track) => track !== undefined);
  if (container === 'mov' && (await isTruncated(used))) return { refused: 'truncated' };
  const [width, height] = isLeftToEncoder(container) ? UNKNOWN : displaySize;
  const facts: MediaFacts = {
    width,
    height,
    durationMs: await durationOf(input, used),
    hasVideo: video !== undefined,
    hasAudio: audio !== undefined,
    traits: await readTraits(container, { video, all: tracks }),
  };
  return { facts };
}

/** In MPEG-TS, mediabunny does not find MPEG-2 video and reports half the height of interlaced video. */
const isLeftToEncoder = (container: DefaultContainer) => container === 'mpegts';

async function readDisplaySize(video: InputVideoTrack): Promise<Size> {
  return [
    pixels(await undefinedIfBroken(video.getDisplayWidth())),
    pixels(await undefinedIfBroken(video.getDisplayHeight())),
  ];
}

async function readCodedSize(video: InputVideoTrack): Promise<Size> {
  return [
    pixels(await undefinedIfBroken(video.getCodedWidth())),
    pixels(await undefinedIfBroken(video.getCodedHeight())),
  ];
}

const pixels = (length = 0) => (length >= 1 ? Math.round(length) : null);
const isTooLarge = ([width, height]: Size) => (width ?? 1) * (height ?? 1) > MAX_VIDEO_PIXELS;
