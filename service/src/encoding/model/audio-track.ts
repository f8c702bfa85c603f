// The audio tracks of a video: which stream of the source is encoded, and to what.

/** What a track is for, apart from being heard by everyone. */
export type AudioPurpose = 'main' | 'commentary' | 'description' | 'clear_speech';

/** An audio stream of the source that is encoded. The first track is the default. */
export type AudioTrack = {
  /** Index of the stream in the source. */
  readonly index: number;
  readonly codec: string;
  /** Null where the source does not tell. */
  readonly channels: number | null;
  /** BCP 47; null when unknown. */
  readonly language: string | null;
  /** For people; no two tracks of a video have the same. */
  readonly name: string;
  readonly isDefault: boolean;
  readonly purpose: AudioPurpose;
};

/** Codecs of surround sound that players get as it is in the source. */
export const PASSTHROUGH_CODECS = ['eac3', 'ac3'] as const;
export type PassthroughCodec = (typeof PASSTHROUGH_CODECS)[number];

/** One track of players. Every source track has a stereo rendition, and surround tracks have two or three. */
export type AudioRendition = {
  readonly track: AudioTrack;
  readonly channels: 2 | 6;
  /** The sound of the source itself. */
  readonly isCopy?: true;
};
