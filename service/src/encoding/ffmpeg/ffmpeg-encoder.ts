// Encoder that runs ffmpeg in phases, and writes the index. The first phase is soon playable.
import { dirname } from 'node:path';
import type { AudioFacts } from '../../lifecycle/decisions/stream-report.ts';
import { THUMBNAIL } from '../../storage/object-key.ts';
import type { CmafTrack } from '../model/cmaf-track.ts';
import { formatIndex, INDEX_NAME } from '../packaging/run-index.ts';
import { encodeAudio } from './audio/encode-audio.ts';
import { planNormalization } from './audio/normalize-audio.ts';
import { audioRenditions } from '../plan/source/audio-tracks.ts';
import { assertCost } from '../plan/ladder/encode-cost.ts';
import { planPhases } from '../plan/ladder/encode-phases.ts';
import { renditionsOf } from '../plan/ladder/encode-progress.ts';
import { findHdrRange } from '../plan/source/hdr-source.ts';
import { perSecondOf } from '../plan/source/frame-rate.ts';
import { type Rung, chooseLadder } from '../plan/ladder/ladder.ts';
import { toVideoFacts } from '../plan/source/source-traits.ts';
import { posterArguments } from '../plan/arguments/poster-arguments.ts';
import {
  type ContinueRequest,
  type EncodedFile,
  type Encoder,
  type Encoding,
  LongVideoError,
  type StartedEncode,
} from '../encoder.ts';
import { createCheckpoint, openCheckpoint } from './encode-checkpoint.ts';
import { encodeChunk } from './encode-chunk.ts';
import { newSourceCheck } from './check-phase.ts';
import { phaseFolder, runPhase } from './encode-phase.ts';
import { filesOf, publish } from './publish-tracks.ts';
import type { PlannedEncode } from './planned-encode.ts';
import { type ExaminedSource, examineSource, findCopy } from './examine-source.ts';
import { createPosters } from './create-posters.ts';
import { cutSource } from './cut-source.ts';
import { createExtra } from './ffmpeg-extras.ts';
import { extractClosedCaptions } from './captions/extract-closed-captions.ts';
import { extractSubtitles } from './extract-subtitles.ts';
import { fileOf, readExcerptTrack, writeText } from './ffmpeg-output.ts';
import { type EncodedTracks, runOtherPhases } from './other-phases.ts';
import { createPlaceholder } from './placeholder.ts';
import { readAudioFacts } from './measured-audio.ts';
import {
  type FfmpegSetup,
  type EncoderOptions,
  type Session,
  openSession,
  runStepOrFail,
} from './ffmpeg-session.ts';

export function openFfmpegEncoder({
  limits,
  concurrency,
  ladder,
  loudness,
  ...setup
}: FfmpegSetup & EncoderOptions): Encoder {
  const options = { limits, concurrency, ladder, loudness };
  const background = { ...setup, priority: 'background' } as const;
  return {
    encodeAudio: (request) => encodeAudio(openSession(setup, request, options)),
    startEncode: (request) => startEncode(openSession(setup, request, options), request.maxSeconds),
    continueEncode: (request) => continueEncode(openSession(background, request, options), request),
    encodeChunk: (request) => encodeChunk(background, request, { limits, concurrency }),
    extractSubtitles: (request) => extractSubtitles(background, request),
    extractClosedCaptions: (request) => extractClosedCaptions(background, request),
    createPoster: async (request) => {
      const folder = dirname(request.output);
      const track = await readExcerptTrack(request.excerpt);
      await runStepOrFail({ ...setup, folder, request }, { args: posterArguments({ ...request, track }) });
    },
    createExtra: (request) => createExtra(request.kind === 'frame' ? setup : background, request),
    cut: (request) => cutSource(openSession(background, request, options)),
  };
}

async function startEncode(session: Session, maxSeconds?: number): Promise<StartedEncode> {
  const source = await examineSource(session);
  const { durationSeconds } = source.timeline;
  if (maxSeconds !== undefined && durationSeconds > maxSeconds)
    throw new LongVideoError(`the video is ${durationSeconds} s long`);
  const planned = await planEncode(session, source);
  const tracks = await runPhase(planned, 0, []);
  const completed = { ...planned, completedAt: new Date().toISOString() };
  const hasOtherPhases = planned.phases.length > 1;
  if (hasOtherPhases) await publish(completed, tracks);
  const audio = await readAudioFacts(source.audio, {
    folder: phaseFolder(session, 0),
    normalization: planned.normalization,
  });
  return hasOtherPhases
    ? { checkpoint: await createCheckpoint(completed, { tracks, audio }) }
    : { encoding: await finishEncode({ ...(await runOtherPhases(completed, tracks)), audio }) };
}

async function continueEncode(session: Session, request: ContinueRequest): Promise<Encoding> {
  const { planned, tracks, audio } = await openCheckpoint(session, request.checkpoint);
  const encoded = await runOtherPhases(planned, tracks, request.encodeChunks);
  return finishEncode({ ...encoded, audio, openSegment: request.openSegment });
}

type FinishedPhases = EncodedTracks & {
  readonly audio: readonly AudioFacts[];
  /** Absent: all segments are in the folder of the request. */
  readonly openSegment?: ContinueRequest['openSegment'];
};

async function finishEncode({
  planned,
  tracks,
  audio,
  warnings,
  openSegment,
}: FinishedPhases): Promise<Encoding> {
  const { session, source } = planned;
  const { request } = session;
  const listed = tracks.filter(({ id }) => id !== planned.replacedTrack);
  const files = [
    await writeIndex(planned, tracks),
    ...filesOf(tracks, request.workFolder),
    ...(await createPosters(planned, listed, openSegment)),
  ];
  const { displaySize } = source.frame;
  return {
    files: files.filter(({ name }) => !planned.published.has(name) && !planned.stored.has(name)),
    renditions: renditionsOf({ ...planned, tracks: listed, current: undefined }),
    container: session.input.container,
    video: toVideoFacts(source),
    audio,
    ...displaySize,
    durationMs: Math.round(source.timeline.durationSeconds * 1000),
    chapters: source.chapters,
    placeholder: await createPlaceholder(session, fileOf(request, THUMBNAIL).path, displaySize),
    warnings: [...source.warnings, ...warnings],
  };
}

function writeIndex(
  { session: { request }, source, phases, replacedTrack, completedAt }: PlannedEncode,
  tracks: readonly CmafTrack[],
): Promise<EncodedFile> {
  const index = {
    frameRate: source.timeline.frameRate,
    tracks,
    early: phases[0]?.trackIds ?? [],
    replaced: replacedTrack,
    completedAt,
  };
  return writeText(request, INDEX_NAME, formatIndex(index));
}

function chooseRungs(
  { ladder }: Session,
  { frame, timeline, kilobits, video }: ExaminedSource,
): readonly Rung[] {
  const framesPerSecond = perSecondOf(timeline.frameRate);
  return chooseLadder(frame.displaySize, {
    source: { framesPerSecond, kilobits, codec: video.codec, hdrRange: findHdrRange({ frame, video }) },
    ladder,
  });
}

async function planEncode(session: Session, source: ExaminedSource): Promise<PlannedEncode> {
  const rungs = chooseRungs(session, source);
  assertCost({ timeline: source.timeline, rungs }, session.limits);
  const copy = await findCopy(session, source, rungs[0] as Rung);
  const { durationSeconds } = source.timeline;
  const normalization = await planNormalization(session, { audio: source.audio, seconds: durationSeconds });
  const phases = planPhases({
    rungs,
    copyUse: copy?.use,
    audioTracks: audioRenditions(source.audio).length,
    durationSeconds,
  });
  return {
    ...phases,
    session,
    source,
    rungs,
    normalization,
    copiedGroupSeconds: copy?.groupSeconds,
    copiedSegmentSeconds: copy?.segmentSeconds,
    startedAt: new Date(),
    published: new Set(),
    stored: new Set(),
    check: newSourceCheck(),
  };
}
