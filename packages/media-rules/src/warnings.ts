// Warns about playable videos and images that are unusual (contract B1).
import { FILE_WARNING_CODES, type FileWarningCode } from '@mediary/contract/failures';

/** Properties of a file; undefined where they are not known. */
export type VideoTraits = {
  readonly isHdr?: boolean | undefined;
  readonly isTurned?: boolean | undefined;
  readonly isInterlaced?: boolean | undefined;
  readonly hasVariableRate?: boolean | undefined;
  /** Average. */
  readonly framesPerSecond?: number | undefined;
  /** Pixels as stored. */
  readonly storedSize?: { readonly width: number; readonly height: number } | undefined;
  /** Seconds of the first frame; before zero if an edit list hides it. */
  readonly startSeconds?: number | undefined;
  /** Channels of each audio track; null where they are not known. */
  readonly audioChannels?: readonly (number | null)[] | undefined;
  /** Tracks of subtitles that do not become captions. */
  readonly droppedSubtitles?: number | undefined;
  /** Captions that the file marks as forced. */
  readonly hasForcedSubtitles?: boolean | undefined;
  readonly hasAlpha?: boolean | undefined;
  /** The file has more chapters than an asset. */
  readonly hasDroppedChapters?: boolean | undefined;
  /** Of an image whose frames are not decoded. */
  readonly isAnimationDropped?: boolean | undefined;
};

type FileWarning = { readonly code: FileWarningCode; readonly message: string };

/** Some files state 10 or 60 frames per second with a rounding error. */
const LOW_RATE = 9.99;
const HIGH_RATE = 60.01;
/** Encoders hide up to a few frames that no player shows. */
const HIDDEN_SECONDS = 0.1;

const CONDITIONS: Readonly<Record<FileWarningCode, (traits: VideoTraits) => boolean | undefined>> = {
  hdr: ({ isHdr }) => isHdr,
  rotated: ({ isTurned }) => isTurned,
  variable_frame_rate: ({ hasVariableRate }) => hasVariableRate,
  low_frame_rate: ({ framesPerSecond = LOW_RATE }) => framesPerSecond < LOW_RATE,
  high_frame_rate: ({ framesPerSecond = 0 }) => framesPerSecond > HIGH_RATE,
  interlaced: ({ isInterlaced }) => isInterlaced,
  odd_dimensions: ({ storedSize }) => storedSize && (isOdd(storedSize.width) || isOdd(storedSize.height)),
  edit_list: ({ startSeconds = 0 }) => startSeconds < -HIDDEN_SECONDS,
  no_audio: ({ audioChannels }) => audioChannels?.length === 0,
  multiple_audio_tracks: ({ audioChannels = [] }) => audioChannels.length > 1,
  surround_audio: ({ audioChannels = [] }) => audioChannels.some((channels) => (channels ?? 0) > 2),
  subtitles_dropped: ({ droppedSubtitles = 0 }) => droppedSubtitles > 0,
  subtitles_forced: ({ hasForcedSubtitles }) => hasForcedSubtitles,
  alpha_dropped: ({ hasAlpha }) => hasAlpha,
  chapters_dropped: ({ hasDroppedChapters }) => hasDroppedChapters,
  animation_dropped: ({ isAnimationDropped }) => isAnimationDropped,
};

const isOdd = (length: number): boolean => length % 2 === 1;

export const toWarnings = (traits: VideoTraits): readonly FileWarning[] =>
  CODES.filter((code) => CONDITIONS[code](traits) === true).map((code) => ({
    code,
    message: FILE_WARNING_CODES[code],
  }));

const CODES = Object.keys(FILE_WARNING_CODES) as FileWarningCode[];
