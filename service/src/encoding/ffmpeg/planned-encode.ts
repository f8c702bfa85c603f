// What the phases of an encode share: its plan, and what they have found out about the source.
import type { DecodeErrors } from '../plan/source/decode-errors.ts';
import type { Normalization } from '../plan/arguments/normalization.ts';
import type { CmafTrack } from '../model/cmaf-track.ts';
import { audioRenditions } from '../plan/source/audio-tracks.ts';
import type { EncodePhases } from '../plan/ladder/encode-phases.ts';
import { chooseEncodedTop, type EncodedTop } from '../plan/ladder/encoded-top.ts';
import type { Rung } from '../plan/ladder/ladder.ts';
import type { Damage } from '../plan/source/source-damage.ts';
import type { ExaminedSource } from './examine-source.ts';
import type { Session } from './ffmpeg-session.ts';

export type PlannedEncode = EncodePhases & {
  readonly session: Session;
  readonly source: ExaminedSource;
  readonly rungs: readonly Rung[];
  /** Of the audio renditions; empty where the service has no target. */
  readonly normalization: readonly (Normalization | null)[];
  /** Longest group of the copied video stream; undefined without a copy. */
  readonly copiedGroupSeconds: number | undefined;
  /** Undefined: that of all renditions. */
  readonly copiedSegmentSeconds?: number | undefined;
  /** Set when the size of a kept copy is encoded too. */
  readonly encodedTop?: EncodedTop;
  readonly startedAt: Date;
  /** When the first phase had all its segments, as ISO 8601; undefined until then. */
  readonly completedAt?: string;
  /** Names of the files that were published already. */
  readonly published: Set<string>;
  /** Names of the segments that are stored, but not in the folder of this request. */
  readonly stored: Set<string>;
  readonly check: SourceCheck;
};

export type SourceCheck = {
  /** Most errors of one run, because each run decodes the source anew. */
  errors: DecodeErrors;
  /** Undefined until a run has decoded the pictures and seen an error. */
  damage: Damage | undefined;
};

/** `tracks`: of all phases. Returns the plan with one phase more to encode the size of a kept copy too. */
export function planEncodedTop(planned: PlannedEncode, tracks: readonly CmafTrack[]): PlannedEncode {
  const { phases, rungs, check, firstAudioTrack, source, replacedTrack } = planned;
  const [copy] = phases;
  if (copy?.video !== 'copy' || replacedTrack !== undefined) return planned;
  const encodedTop = chooseEncodedTop({
    tracks: tracks.filter(({ id }) => id < firstAudioTrack),
    isDamaged: check.damage !== undefined && check.damage.pictures > 0,
    trackId: firstAudioTrack + audioRenditions(source.audio).length,
  });
  if (!encodedTop) return planned;
  const { trackId, isInstead } = encodedTop;
  return {
    ...planned,
    encodedTop,
    replacedTrack: isInstead ? copy.trackIds[0] : undefined,
    phases: [
      ...phases,
      { video: rungs.slice(0, 1), hasAudio: false, keyFrames: copy.keyFrames, trackIds: [trackId] },
    ],
  };
}
