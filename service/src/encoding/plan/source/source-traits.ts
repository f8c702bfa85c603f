// The unusual properties of a source as ffmpeg sees them.
import { MAX_CHAPTERS } from '@mediary/contract/schemas/assets/chapters';
import type { VideoFacts } from '../../../lifecycle/decisions/stream-report.ts';
import type { VideoTraits } from '@mediary/media-rules/warnings';
import type { SourceFacts } from '../../model/source.ts';
import { isCaptionTrack } from './caption-streams.ts';
import { isSteady, perSecondOf } from './frame-rate.ts';
import type { ChosenStreams } from './stream-choice.ts';
import { chooseSubtitles } from './subtitle-streams.ts';

/** Rotation and edit lists are known from the probe: ffmpeg applies them before it prints anything. */
export function toTraits(
  { streams, chapters = [] }: Pick<SourceFacts, 'streams' | 'chapters'>,
  { video, audioStreams, frame }: ChosenStreams,
): VideoTraits {
  const captions = chooseSubtitles(streams);
  const subtitles = streams.filter((stream) => stream.kind === 'Subtitle' && !isCaptionTrack(stream));
  return {
    isHdr: frame.transfer !== 'sdr',
    isInterlaced: frame.interlaced,
    hasVariableRate: frame.frameRate !== null && !isSteady(frame.frameRate, video.averageRate),
    framesPerSecond: framesPerSecond({ video, frame }) ?? undefined,
    storedSize: video.size ?? undefined,
    audioChannels: audioStreams.map(({ channels = null }) => channels),
    droppedSubtitles: subtitles.length - captions.length,
    hasForcedSubtitles: captions.some(({ isForced }) => isForced === true),
    hasAlpha: video.hasAlpha === true || ALPHA_FORMATS.test(frame.pixelFormat),
    hasDroppedChapters: chapters.length > MAX_CHAPTERS,
  };
}

/** Names of pixel formats in ffmpeg. */
const ALPHA_FORMATS = /^(?:yuva|gbra|rgba|bgra|argb|abgr|ya\d)/;

type ChosenVideo = Pick<ChosenStreams, 'video' | 'frame'>;

export const toVideoFacts = ({ video, frame }: ChosenVideo): VideoFacts => {
  const fps = framesPerSecond({ video, frame });
  return {
    codec: video.codec,
    fps: fps && Math.round(fps * 1000) / 1000,
    hdr: frame.transfer !== 'sdr',
    bit_depth: frame.bitDepth,
  };
};

const framesPerSecond = ({ video, frame: { frameRate } }: ChosenVideo): number | null =>
  video.averageRate ?? (frameRate && perSecondOf(frameRate));
