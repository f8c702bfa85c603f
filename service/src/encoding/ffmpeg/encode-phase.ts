// Runs one phase of an encode; the first one is published while ffmpeg writes it.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import { spanned } from '../../platform/observability/tracing.ts';
import { EncodeError } from '../encoder.ts';
import { type CmafTrack, describeAudio } from '../model/cmaf-track.ts';
import { audioRenditions, AUDIO_KILOBITS } from '../plan/source/audio-tracks.ts';
import { countDecodeErrors } from '../plan/source/decode-errors.ts';
import { encodeCost, timeLimitMs } from '../plan/ladder/encode-cost.ts';
import type { EncodePhase } from '../plan/ladder/encode-phases.ts';
import {
  buildEncodeStep,
  copyArguments,
  gridGroupSeconds,
  maxOutputBytes,
  maxSegmentSeconds,
} from '../plan/arguments/encode-plan.ts';
import { percentOf, renditionsOf } from '../plan/ladder/encode-progress.ts';
import type { Rung } from '../plan/ladder/ladder.ts';
import { assertComplete, seemsUndecodable, recordErrors, refuseUndecodable } from './check-phase.ts';
import type { PlannedEncode } from './planned-encode.ts';
import type { ExaminedSource } from './examine-source.ts';
import { publish } from './publish-tracks.ts';
import { openSegmentCollector, type SegmentCollector } from './ffmpeg-output.ts';
import { type EncodeStep, type Session, parseOutTime, runStepOrFail } from './ffmpeg-session.ts';

type PhaseRun = {
  readonly index: number;
  readonly phase: EncodePhase;
  readonly folder: string;
  /** The tracks of earlier phases. */
  readonly earlier: readonly CmafTrack[];
  readonly errors: ReturnType<typeof countDecodeErrors>;
};

const POLL_MS = 100;
/** Each publication writes the whole index anew. */
const PUBLISH_INTERVAL_MS = 1000;
/** Shorter videos are complete soon after their first segment. */
const MIN_SECONDS_TO_GROW = 8;

/** Where ffmpeg writes; the audio is a part of the first phase. */
export const phaseFolder = ({ request }: Session, index: number): string =>
  join(request.workFolder, `phase-${index}`);

/** Resolves with the complete tracks of the phase. */
export async function runPhase(
  encode: PlannedEncode,
  index: number,
  earlier: readonly CmafTrack[],
): Promise<readonly CmafTrack[]> {
  const { session, phases } = encode;
  const folder = phaseFolder(session, index);
  await mkdir(folder);
  const phase = phases[index] as EncodePhase;
  const collector = openSegmentCollector({
    from: folder,
    to: session.request.workFolder,
    trackIds: phase.trackIds,
  });
  const errors = countDecodeErrors(encode.source.video.index);
  const span = { name: 'encode phase', kind: 'internal', attributes: { 'mediary.phase': index } } as const;
  const run = { index, phase, folder, earlier, errors };
  const log = await spanned(span, () => renderChecked(encode, run, collector));
  const tracks = await collect(encode, collector);
  await assertComplete(encode, { phase, tracks, log });
  return tracks;
}

/** ffmpeg also fails where it cannot decode most of the source. */
async function renderChecked(
  encode: PlannedEncode,
  run: PhaseRun,
  collector: SegmentCollector,
): Promise<string> {
  const isGrowing = run.index === 0 && encode.source.timeline.durationSeconds >= MIN_SECONDS_TO_GROW;
  try {
    return isGrowing ? await renderGrowing(encode, run, collector) : await render(encode, run);
  } catch (error) {
    recordErrors(encode, run.errors.counts());
    if (error instanceof EncodeError && error.code === 'encode_failed') await refuseUndecodable(encode);
    throw error;
  } finally {
    recordErrors(encode, run.errors.counts());
  }
}

/** `stop`: of a run whose segments are published while it goes on. */
async function render(
  { session, ...encode }: PlannedEncode,
  { index, phase, folder, earlier, errors }: PhaseRun,
  stop?: AbortSignal,
): Promise<string> {
  const { timeline } = encode.source;
  const { signal, onProgress } = session.request;
  const renditions = renditionsOf({ ...encode, tracks: earlier, current: phase });
  let done = 0;
  const report = () =>
    onProgress(percentOf({ ...encode, phase: index, part: done / timeline.durationSeconds }), renditions);
  report();
  const onLine = (line: string): void => {
    const seconds = parseOutTime(line);
    if (seconds === undefined) return;
    done = Math.max(done, seconds);
    report();
  };
  const rungs = phase.video === 'copy' ? [] : phase.video;
  const limits = {
    stallMs: session.limits.stallSeconds * 1000,
    wallMs: timeLimitMs(encodeCost({ timeline, rungs })),
    output: { folder, bytes: maxPhaseBytes(encode.source, rungs) },
  };
  const request = { ...session.request, signal: stop ? AbortSignal.any([signal, stop]) : signal };
  // Segments of x264 cannot continue those of a GPU that fails after some were published.
  const hardware = stop ? undefined : session.hardware;
  const step = { ...buildPhaseStep({ session, ...encode }, phase, folder), limits, onLine };
  return (await runStepOrFail({ ...session, hardware, folder, request }, { ...step, onLogLine: errors.read }))
    .log;
}

function buildPhaseStep(
  { session, source, normalization, copiedSegmentSeconds }: PlannedEncode,
  phase: EncodePhase,
  folder: string,
): EncodeStep {
  const { facts, frame, video, audio, timeline } = source;
  const plan = {
    input: session.input,
    frame,
    streams: facts.streams,
    videoIndex: video.index,
    audio: phase.hasAudio ? audio : [],
    normalization,
    timeline,
    folder,
  };
  return phase.video === 'copy'
    ? { args: copyArguments({ ...plan, segmentSeconds: copiedSegmentSeconds }) }
    : buildEncodeStep({ ...plan, rungs: phase.video, keyFrames: phase.keyFrames });
}

/** Stops ffmpeg when the publication fails, for example because the store is unavailable. */
async function renderGrowing(
  encode: PlannedEncode,
  run: PhaseRun,
  collector: SegmentCollector,
): Promise<string> {
  const failed = new AbortController();
  const ended = new AbortController();
  const following = follow(encode, run, { collector, signal: ended.signal }).catch((error: unknown) => {
    const isEnd = ended.signal.aborted && error instanceof Error && error.name === 'AbortError';
    if (!isEnd) failed.abort(error);
  });
  try {
    return await render(encode, run, failed.signal);
  } finally {
    ended.abort();
    await following;
    failed.signal.throwIfAborted();
  }
}

async function follow(
  encode: PlannedEncode,
  run: PhaseRun,
  { collector, signal }: { collector: SegmentCollector; signal: AbortSignal },
): Promise<void> {
  let [segments, publishedAt] = [0, Number.NEGATIVE_INFINITY];
  for await (const _ of setInterval(POLL_MS, undefined, { signal, ref: false })) {
    if (performance.now() - publishedAt < PUBLISH_INTERVAL_MS) continue;
    const tracks = await collect(encode, collector);
    const count = tracks.reduce((total, track) => total + track.segments.length, 0);
    if (tracks.length < run.phase.trackIds.length || count === segments) continue;
    if (seemsUndecodable(encode, tracks, run.errors.counts())) continue;
    await publish(encode, tracks);
    [segments, publishedAt] = [count, performance.now()];
  }
}

/** All tracks declare the same longest segment: the first ones are published before the end. */
async function collect(encode: PlannedEncode, collector: SegmentCollector): Promise<readonly CmafTrack[]> {
  const tracks = describeAudio(await collector.collect(), {
    firstId: encode.firstAudioTrack,
    renditions: audioRenditions(encode.source.audio),
  });
  return tracks.map((track) => ({ ...track, targetSeconds: targetSecondsOf(encode) }));
}

export const targetSecondsOf = ({
  source: { timeline },
  copiedGroupSeconds = 0,
  copiedSegmentSeconds,
}: PlannedEncode): number =>
  maxSegmentSeconds(Math.max(copiedGroupSeconds, gridGroupSeconds(timeline)), copiedSegmentSeconds);

/** A copy has the size of the source. */
function maxPhaseBytes({ bytes, timeline, audio }: ExaminedSource, rungs: readonly Rung[]): number {
  const kilobits = [
    ...rungs.map(({ maxKilobits }) => maxKilobits),
    ...audioRenditions(audio).map(({ channels }) => AUDIO_KILOBITS[channels]),
  ];
  const copied = rungs.length > 0 ? 0 : bytes;
  return maxOutputBytes(kilobits, timeline.durationSeconds) + copied;
}
