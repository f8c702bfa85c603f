// Checks the end of a phase: all tracks are complete, and the source could be decoded.
import type { Warning } from '../../assets/asset.ts';
import { type CmafTrack, isVideo, trackSeconds } from '../model/cmaf-track.ts';
import type { DecodeErrors } from '../plan/source/decode-errors.ts';
import { encodeCost, timeLimitMs } from '../plan/ladder/encode-cost.ts';
import type { EncodePhase } from '../plan/ladder/encode-phases.ts';
import {
  type Damage,
  damageArguments,
  damageWarnings,
  isMostlyMissing,
  openDamageReader,
} from '../plan/source/source-damage.ts';
import { perSecondOf } from '../plan/source/frame-rate.ts';
import { secondsOf } from '../plan/source/source-timeline.ts';
import type { PlannedEncode, SourceCheck } from './planned-encode.ts';
import { createEncodeFailure, runStep } from './ffmpeg-session.ts';

export const newSourceCheck = (): SourceCheck => ({ errors: { pictures: 0, sound: 0 }, damage: undefined });

export function recordErrors({ check }: PlannedEncode, { pictures, sound }: DecodeErrors): void {
  check.errors = {
    pictures: Math.max(check.errors.pictures, pictures),
    sound: Math.max(check.errors.sound, sound),
  };
}

type EncodedPhase = {
  readonly phase: EncodePhase;
  readonly tracks: readonly CmafTrack[];
  readonly log: string;
};

/** Throws EncodeError: `undecodable` if most of the picture is missing, `truncated` if a track ends early. */
export async function assertComplete(
  encode: PlannedEncode,
  { phase, tracks, log }: EncodedPhase,
): Promise<void> {
  await refuseUndecodable(encode);
  const isAll = tracks.length === phase.trackIds.length;
  if (isAll && tracks.every((track) => isComplete(track, encode, phase))) return;
  // A decoder may give up at an error: the rest of the video is missing then.
  throw createEncodeFailure(encode.check.errors.pictures > 0 ? 'undecodable' : 'truncated', log);
}

/** ffmpeg reports success for a source that ends early. */
function isComplete(track: CmafTrack, { source }: PlannedEncode, phase: EncodePhase): boolean {
  const { durationSeconds, frameRate, holdSeconds } = source.timeline;
  // A copy does not repeat the last frame.
  const missing = phase.video === 'copy' && isVideo(track) ? holdSeconds : 0;
  const tolerance = missing + Math.max(TOLERANCE_SECONDS, secondsOf(frameRate));
  return track.segments[0]?.start === 0 && Math.abs(trackSeconds(track) - durationSeconds) <= tolerance;
}

const TOLERANCE_SECONDS = 0.1;

/** Measures the damage once, after the first run that has seen an error. */
export async function refuseUndecodable(encode: PlannedEncode): Promise<void> {
  const { check } = encode;
  if (check.errors.pictures === 0 || check.damage) return;
  const { damage, log } = await measureDamage(encode);
  check.damage = damage;
  if (isMostlyMissing(damage)) throw createEncodeFailure('undecodable', log);
}

type Measurement = { readonly damage: Damage; readonly log: string };

async function measureDamage({ session, source, rungs }: PlannedEncode): Promise<Measurement> {
  const { read, damage } = openDamageReader({ videoIndex: source.video.index, size: source.video.size });
  const args = damageArguments(session.input, source.video.index);
  const wallMs = timeLimitMs(encodeCost({ timeline: source.timeline, rungs: rungs.slice(0, 1) }));
  const { log } = await runStep(session, { args, onLogLine: read, limits: { wallMs } });
  return { damage: damage(), log };
}

/** Nobody has to watch what may be refused in the end. */
const ERRORS_TO_WAIT = 0.9;

/** While a run goes on: whether nearly all pictures so far have an error. */
export function seemsUndecodable(
  { source }: PlannedEncode,
  tracks: readonly CmafTrack[],
  { pictures }: DecodeErrors,
): boolean {
  const seconds = Math.max(0, ...tracks.filter(isVideo).map(trackSeconds));
  return pictures > 0 && pictures > ERRORS_TO_WAIT * seconds * perSecondOf(source.timeline.frameRate);
}

/** About the source of an encode whose phases have ended. A source that was only copied is decoded first. */
export async function checkSource(encode: PlannedEncode): Promise<readonly Warning[]> {
  const { check } = encode;
  if (encode.phases.every(({ video }) => video === 'copy')) {
    const { damage, log } = await measureDamage(encode);
    if (isMostlyMissing(damage)) throw createEncodeFailure('undecodable', log);
    check.damage = damage;
  }
  return damageWarnings(check.damage, check.errors.sound);
}
