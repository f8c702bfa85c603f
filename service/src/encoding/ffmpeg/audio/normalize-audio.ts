// Measures the sound of a source before its encode: all segments get one gain, also those that play early.
import type { AudioTrack } from '../../model/audio-track.ts';
import { parseSummaries } from '../../plan/arguments/loudness.ts';
import { chooseNormalization, type Normalization } from '../../plan/arguments/normalization.ts';
import { levelsArguments } from '../../plan/arguments/sound-options.ts';
import { soundCost, timeLimitMs } from '../../plan/ladder/encode-cost.ts';
import { audioRenditions } from '../../plan/source/audio-tracks.ts';
import { runStep, type Session } from '../ffmpeg-session.ts';

type MeasuredSound = {
  readonly audio: readonly AudioTrack[];
  /** Of the sound that is encoded. */
  readonly seconds: number;
  readonly decoders?: readonly string[];
};

/** Of each rendition of the tracks; empty where the service has no target. */
export async function planNormalization(
  session: Session,
  { audio, seconds, decoders }: MeasuredSound,
): Promise<readonly (Normalization | null)[]> {
  const { loudness: target, input, limits } = session;
  const renditions = audioRenditions(audio);
  if (!target || renditions.length === 0) return [];
  const { code, log } = await runStep(session, {
    args: levelsArguments({ input, audio, maxSeconds: seconds, ...(decoders && { decoders }) }),
    limits: {
      stallMs: limits.stallSeconds * 1000,
      wallMs: timeLimitMs(renditions.length * soundCost(seconds)),
    },
    // Lines of standard output show that the run does not stall.
    onLine: () => {},
  });
  // The encode decodes the same sound, and reports what is wrong with it.
  const measured = code === 0 ? parseSummaries(log) : new Map();
  return renditions.map((_, index) => {
    const level = measured.get(index);
    return level ? chooseNormalization(level, target) : null;
  });
}
