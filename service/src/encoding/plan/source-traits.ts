// The unusual properties of a source as ffmpeg sees them.
import type { VideoTraits } from '../../media/warnings.ts';
import { isTextSubtitle } from './ffmpeg-input.ts';
import type { SourceFacts } from './source-facts.ts';
import { isSteady } from './frame-rate.ts';
import type { ChosenStreams } from './stream-choice.ts';

/** Rotation and edit lists are known from the probe: ffmpeg applies them before it prints anything. */
export function toTraits(
  { streams }: Pick<SourceFacts, 'streams'>,
  { video, audioStreams, frame }: ChosenStreams,
): VideoTraits {
  const rate = frame.frameRate && frame.frameRate.numerator / frame.frameRate.denominator;
  return {
    isHdr: frame.transfer !== 'sdr',
    isInterlaced: frame.interlaced,
    hasVariableRate: frame.frameRate !== null && !isSteady(frame.frameRate, video.averageRate),
    framesPerSecond: video.averageRate ?? rate ?? undefined,
    storedSize: video.size ?? undefined,
    audioChannels: audioStreams.map(({ channels = null }) => channels),
    subtitleTracks: streams.filter(({ kind, codec }) => kind === 'Subtitle' && !isTextSubtitle(codec)).length,
  };
}
