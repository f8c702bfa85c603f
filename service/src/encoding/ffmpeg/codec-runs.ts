// Encodes all rungs: one ffmpeg run per codec, H.264 first, and checks that each run is complete.
import type { Warning } from '../../assets/asset.ts';
import type { Rendition } from '../../assets/renditions.ts';
import { EncodeFailed } from '../encoder.ts';
import { type CmafTrack, trackSeconds } from '../packaging/cmaf-track.ts';
import type { Codec } from '../plan/codecs.ts';
import { encodeCost, timeLimitMs } from '../plan/encode-cost.ts';
import { type EncodePlan, encodeArguments, splitByCodec, trackIds } from '../plan/encode-plan.ts';
import type { Rung, Size } from '../plan/ladder.ts';
import { secondsOf } from '../plan/source-timeline.ts';
import { readTracks } from './ffmpeg-output.ts';
import { createEncodeFailure, runStepOrFail, type Session } from './ffmpeg-session.ts';

const OUTPUT_SLACK_BYTES = 64 * 1024 ** 2;
const AUDIO_KILOBITS = 128;
const TOLERANCE_SECONDS = 0.1;

type EncodedTracks = { readonly tracks: readonly CmafTrack[]; readonly warnings: readonly Warning[] };

/** Throws EncodeFailed if H.264 fails. */
export async function encodeAllCodecs(session: Session, plan: EncodePlan): Promise<EncodedTracks> {
  const [main, ...extraRuns] = splitByCodec(plan);
  const tracks = await encodeRun(session, plan, main);
  const extra = await encodeExtraCodecs(session, plan, extraRuns);
  return { tracks: [...tracks, ...extra.tracks], warnings: extra.warnings };
}

/** Encodes the rungs of one codec; `whole` is the plan of all codecs. */
async function encodeRun(
  session: Session,
  whole: EncodePlan,
  run: EncodePlan,
): Promise<readonly CmafTrack[]> {
  const log = await render(session, whole, run);
  const tracks = await readTracks(run.folder, trackIds(run));
  if (!tracks.every((track) => isComplete(track, run))) throw createEncodeFailure('truncated', log);
  return tracks;
}

/** A further codec that fails leaves a video that plays everywhere, so it is only a warning. */
async function encodeExtraCodecs(
  session: Session,
  whole: EncodePlan,
  runs: readonly EncodePlan[],
): Promise<EncodedTracks> {
  const tracks: CmafTrack[] = [];
  const warnings: Warning[] = [];
  for (const run of runs) {
    try {
      tracks.push(...(await encodeRun(session, whole, run)));
    } catch (error) {
      if (!(error instanceof EncodeFailed)) throw error;
      const codec = run.rungs[0]?.codec.toUpperCase();
      warnings.push({
        code: 'extra_codec_failed',
        message: `The video has no ${codec} renditions: ${error.message}`,
      });
    }
  }
  return { tracks, warnings };
}

async function render(session: Session, whole: EncodePlan, run: EncodePlan): Promise<string> {
  const { durationSeconds } = whole.timeline;
  const { onProgress, workFolder } = session.request;
  const renditions = whole.rungs.map(
    (rung): Rendition => ({ ...describeRung(rung, rung.codec), state: 'encoding', bitrate: null }),
  );
  const percentAt = progressOf(whole, run);
  let percent = percentAt(0);
  onProgress(percent, renditions);
  const onLine = (line: string): void => {
    const done = /^out_time_us=(\d+)$/.exec(line)?.[1];
    if (done === undefined) return;
    percent = Math.max(percent, Math.min(99, percentAt(Number(done) / 1_000_000 / durationSeconds)));
    onProgress(percent, renditions);
  };
  const limits = {
    stallMs: session.limits.stallSeconds * 1000,
    wallMs: timeLimitMs(encodeCost(run)),
    output: { folder: workFolder, bytes: maxOutputBytes(whole.rungs, durationSeconds) },
  };
  return (await runStepOrFail(session, { args: encodeArguments(run), limits, onLine })).log;
}

/** Percent of all runs for a part of this one; runs follow each other in the order of the rungs. */
function progressOf(whole: EncodePlan, run: EncodePlan): (part: number) => number {
  const first = whole.rungs.findIndex(({ codec }) => codec === run.rungs[0]?.codec);
  const before = encodeCost({ ...whole, rungs: whole.rungs.slice(0, first) });
  return (part) => Math.floor((100 * (before + part * encodeCost(run))) / encodeCost(whole));
}

/** Twice the allowed bit rates, which only a defect can exceed. */
const maxOutputBytes = (rungs: readonly Rung[], seconds: number): number =>
  OUTPUT_SLACK_BYTES +
  2 * 125 * seconds * rungs.reduce((kilobits, { maxKilobits }) => kilobits + maxKilobits, AUDIO_KILOBITS);

/** ffmpeg reports success for a source that ends early. */
function isComplete(track: CmafTrack, { timeline }: EncodePlan): boolean {
  const tolerance = Math.max(TOLERANCE_SECONDS, secondsOf(timeline.frameRate));
  return (
    track.segments[0]?.start === 0 && Math.abs(trackSeconds(track) - timeline.durationSeconds) <= tolerance
  );
}

/** H.264 is the codec of renditions that name none. */
export const describeRung = ({ width, height }: Size, codec: Codec) => ({
  width,
  height,
  ...(codec !== 'h264' && { codec }),
});
