// Plans the ffmpeg runs of an encode: what is playable first, then the other renditions.
import { firstTrackId, SWITCHING_SETS, type SwitchingSet } from '../../model/codecs.ts';
import type { Rung } from './ladder.ts';
import type { CopyUse } from './source-copy.ts';

/** One ffmpeg run. Its tracks are numbered in the order of the maps: video first, then audio. */
export type EncodePhase = {
  /** `copy`: the source's own video stream. */
  readonly video: 'copy' | readonly Rung[];
  readonly hasAudio: boolean;
  /** `source`: at the key frames of the source, so that the segments match those of the copy. */
  readonly keyFrames: 'grid' | 'source';
  /** The id of each track in the manifests. */
  readonly trackIds: readonly number[];
};

export type EncodePhases = {
  readonly phases: readonly EncodePhase[];
  /** Track that only plays until the ladder is complete. */
  readonly replacedTrack: number | undefined;
  readonly firstAudioTrack: number;
};

type PhaseInput = {
  readonly rungs: readonly Rung[];
  readonly copyUse: CopyUse | undefined;
  readonly audioTracks: number;
  readonly durationSeconds: number;
};

/** A shorter video is encoded in one run, because it is ready soon after its first rendition would play. */
const MIN_SECONDS_FOR_TWO = 2;

/** Every set counts its rungs from the top. */
export const rungTrackIds = (rungs: readonly Rung[]): readonly number[] =>
  rungs.map((rung) => firstTrackId(rung) + rungsIn(rungs, rung).indexOf(rung));

const rungsIn = (rungs: readonly Rung[], { codec, range }: SwitchingSet): readonly Rung[] =>
  rungs.filter((rung) => rung.codec === codec && rung.range === range);

/**
 * H.264 first, then one run for each further set, HDR last. AV1 in the same process would need more memory
 * than the default limit.
 */
export function planPhases({ rungs, ...input }: PhaseInput): EncodePhases {
  const [mainSet, ...extraSets] = SWITCHING_SETS as readonly [SwitchingSet, ...SwitchingSet[]];
  const main = rungsIn(rungs, mainSet);
  const { phases, replacedTrack } = planMainPhases({ rungs: main, ...input });
  // Segments start where those of H.264 in the final ladder start.
  const keyFrames = input.copyUse === 'keep' ? 'source' : 'grid';
  const extra = extraSets
    .map((set) => rungsIn(rungs, set))
    .filter(({ length }) => length > 0)
    .map((video): EncodePhase => ({ video, hasAudio: false, keyFrames, trackIds: rungTrackIds(video) }));
  return { phases: [...phases, ...extra], replacedTrack, firstAudioTrack: main.length };
}

type MainPhases = Pick<EncodePhases, 'phases' | 'replacedTrack'>;

/** Video tracks have the ids of their rungs from the top; audio tracks follow. */
function planMainPhases({ rungs, copyUse, audioTracks, durationSeconds }: PhaseInput): MainPhases {
  const audioIds = range(rungs.length, audioTracks);
  const hasAudio = audioTracks > 0;
  if (copyUse === 'keep')
    return {
      phases: [
        { video: 'copy', hasAudio, keyFrames: 'source', trackIds: [0, ...audioIds] },
        ...encodePhases({ rungs, from: 1, keyFrames: 'source' }),
      ],
      replacedTrack: undefined,
    };
  if (copyUse === 'replace') {
    const copied = rungs.length + audioTracks;
    return {
      phases: [
        { video: 'copy', hasAudio, keyFrames: 'source', trackIds: [copied, ...audioIds] },
        ...encodePhases({ rungs, from: 0, keyFrames: 'grid' }),
      ],
      replacedTrack: copied,
    };
  }
  const last = rungs.length - 1;
  const first = last === 0 || durationSeconds < MIN_SECONDS_FOR_TWO ? 0 : last;
  return {
    phases: [
      {
        video: rungs.slice(first),
        hasAudio,
        keyFrames: 'grid',
        trackIds: [...range(first, rungs.length - first), ...audioIds],
      },
      ...encodePhases({ rungs: rungs.slice(0, first), from: 0, keyFrames: 'grid' }),
    ],
    replacedTrack: undefined,
  };
}

type RungRange = Pick<EncodePhase, 'keyFrames'> & {
  readonly rungs: readonly Rung[];
  readonly from: number;
};

const encodePhases = ({ rungs, from, keyFrames }: RungRange): EncodePhase[] =>
  rungs.length === from
    ? []
    : [
        {
          video: rungs.slice(from),
          hasAudio: false,
          keyFrames,
          trackIds: range(from, rungs.length - from),
        },
      ];

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, at) => from + at);
