// Examines a source before encoding: its streams, its timeline and its completeness.
import { stat } from 'node:fs/promises';
import type { Chapter } from '@mediary/contract/schemas/assets/chapters';
import { readChapters } from '../../assets/chapters.ts';
import type { Warning } from '../../assets/asset.ts';
import type { AudioTrack } from '../model/audio-track.ts';
import { byDefault, MAX_AUDIO_TRACKS, toAudioTracks } from '../plan/source/audio-tracks.ts';
import { assertDuration } from '../plan/ladder/encode-cost.ts';
import { EncodeError } from '../encoder.ts';
import { isDecodable } from '../plan/source/decoders.ts';
import {
  factsArguments,
  type PacketSelection,
  packetListArguments,
  audioCheckArguments,
  readZero,
} from '../plan/source/ffmpeg-input.ts';
import { type SourceSession, createEncodeFailure, runStep } from './ffmpeg-session.ts';
import {
  type PacketEnds,
  openPacketList,
  type Timeline,
  isTruncated,
  missingSeconds,
  computeTimeline,
  shiftOf,
} from '../plan/source/source-timeline.ts';
import type { SourceFacts, SourceStream } from '../model/source.ts';
import { parseSourceFacts } from '../plan/source/source-facts.ts';
import { toWarnings } from '@mediary/media-rules/warnings';
import type { Rung } from '../plan/ladder/ladder.ts';
import {
  canCopy,
  chooseCopyUse,
  type CopyUse,
  gridTimes,
  copiedSegmentSeconds,
  longestGroupSeconds,
  repeatsParameters,
} from '../plan/ladder/source-copy.ts';
import {
  openPacketCounter,
  openPacketReader,
  parameterSetArguments,
  videoPacketArguments,
} from '../plan/source/video-packets.ts';
import { toTraits } from '../plan/source/source-traits.ts';
import {
  type AudioChoice,
  audioWarnings,
  type ChosenStreams,
  chooseStreams,
  isTruncationLog,
} from '../plan/source/stream-choice.ts';

export type ExaminedSource = Pick<ChosenStreams, 'video' | 'frame'> & {
  readonly facts: SourceFacts;
  /** Size of the file. */
  readonly bytes: number;
  readonly audio: readonly AudioTrack[];
  readonly timeline: Timeline;
  readonly chapters: readonly Chapter[];
  /** Average bit rate of the file over the duration of its video. */
  readonly kilobits: number;
  /** Unusual properties of the source, and parts that the renditions lack. */
  readonly warnings: readonly Warning[];
};

/** A few frames may print kilobytes of colour metadata each. */
const FACTS_BYTES = 1024 * 1024;
const FACTS_MS = 60_000;

type FactsRun = { readonly facts: SourceFacts; readonly code: number; readonly log: string };

/** Runs ffmpeg with arguments that print what the source is. Throws EncodeError if it is no media. */
export async function readFacts(session: SourceSession, args: readonly string[]): Promise<FactsRun> {
  const { code, log } = await runStep(session, {
    args,
    limits: { wallMs: FACTS_MS },
    logBytes: FACTS_BYTES,
  });
  const facts = parseSourceFacts(log, session.input.container);
  if (!facts) throw createEncodeFailure('not_media', log);
  return { facts, code, log };
}

/** Throws EncodeError for a source that cannot be encoded completely. */
export async function examineSource(session: SourceSession): Promise<ExaminedSource> {
  const { facts, log } = await readFacts(session, factsArguments(session.input));
  const chosen = chooseStreams(facts, session.input.container, log);
  if ('code' in chosen) throw new EncodeError(chosen.code, chosen.message, log);
  const videoIndex = chosen.video.index;
  const ends = await readPacketEnds(session, facts, videoIndex);
  const missing = missingSeconds(facts, ends);
  if (isTruncated(missing))
    throw createEncodeFailure('truncated', `${missing.toFixed(2)} s are missing\n${log}`);
  const { size: bytes } = await stat(session.request.source);
  const timeline = computeTimeline({ facts, videoIndex, ends, missing, bytes });
  assertDuration(timeline, session.limits);
  const { video, frame, audioStreams } = chosen;
  const kilobits = (bytes * 8) / 1000 / (timeline.durationSeconds - timeline.holdSeconds);
  const audio = await chooseAudio(session, audioStreams);
  const warnings = [...toWarnings(toTraits(facts, chosen)), ...audioWarnings(audio)];
  const audioTracks = toAudioTracks(audio.encoded);
  const { durationSeconds } = timeline;
  const chapters = chaptersOf(facts, { durationSeconds, shiftSeconds: shiftOf(facts) });
  return { facts, bytes, kilobits, video, frame, audio: audioTracks, timeline, chapters, warnings };
}

type RenditionClock = {
  readonly durationSeconds: number;
  /** Added to the times of the file. */
  readonly shiftSeconds: number;
};

export const chaptersOf = (
  { chapters = [] }: SourceFacts,
  { durationSeconds, shiftSeconds }: RenditionClock,
): Chapter[] =>
  readChapters(
    chapters.map(({ startSeconds, title }) => ({
      start_ms: Math.max(0, Math.round((startSeconds + shiftSeconds) * 1000)),
      title,
    })),
    durationSeconds * 1000,
  );

async function chooseAudio(
  session: SourceSession,
  audioStreams: readonly SourceStream[],
): Promise<AudioChoice> {
  const choice: Record<keyof AudioChoice, SourceStream[]> = { encoded: [], undecodable: [], excess: [] };
  for (const stream of byDefault(audioStreams)) {
    if (choice.encoded.length === MAX_AUDIO_TRACKS) choice.excess.push(stream);
    else choice[(await decodes(session, stream)) ? 'encoded' : 'undecodable'].push(stream);
  }
  return choice;
}

/** Whether ffmpeg decodes an audio stream: a decoder may be missing, or the stream damaged. */
async function decodes(session: SourceSession, stream: SourceStream): Promise<boolean> {
  if (!isDecodable(stream, session.input.container)) return false;
  const { ends, read } = openPacketList(0);
  const args = audioCheckArguments(session.input, stream.index);
  const { log } = await runStep(session, { args, onLine: read });
  // An empty audio stream has no frames and no errors; it is encoded as silence.
  return ends.size > 0 || log.trim() === '';
}

/** How the ladder can use the source's own video stream; undefined when it must be encoded. */
export async function findCopy(
  session: SourceSession,
  { facts, video, timeline }: ExaminedSource,
  top: Rung,
): Promise<Copy | undefined> {
  const { container } = session.input;
  if (!canCopy({ container, facts, video, timeline })) return undefined;
  // The times that the copy will have, which must be regular: ffmpeg 5.1 does not move frames to a grid.
  const times = gridTimes(container, timeline.frameRate);
  const { read, summary } = openPacketReader(times.length > 0 ? 0 : facts.startSeconds);
  const args = [
    ...videoPacketArguments(session.input, video.index, times),
    ...readZero(container, facts.streams),
  ];
  const { code } = await runStep(session, { args, onLine: read });
  const packets = summary();
  const use = code === 0 && packets && chooseCopyUse({ video, timeline, packets }, top);
  if (!use || !(await hasOneHeader(session, video))) return undefined;
  return {
    groupSeconds: longestGroupSeconds(packets),
    use,
    // The encoded rungs beside a kept copy have its segments.
    segmentSeconds: use === 'replace' ? copiedSegmentSeconds(packets) : undefined,
  };
}

/** Whether all frames can be decoded with the parameters at the start of the video stream. */
async function hasOneHeader(session: SourceSession, video: SourceStream): Promise<boolean> {
  if (!repeatsParameters(session.input.container)) return true;
  const { read, count } = openPacketCounter();
  const args = parameterSetArguments(session.input, video.index);
  const { code } = await runStep(session, { args, onLine: read });
  return code === 0 && count() === 1;
}

/** `groupSeconds`: the longest group of pictures. */
type Copy = {
  readonly use: CopyUse;
  readonly groupSeconds: number;
  /** Undefined: that of all renditions. */
  readonly segmentSeconds: number | undefined;
};

/** Reads the end of the file; the whole file only if video ends much earlier or the duration is unknown. */
async function readPacketEnds(
  session: SourceSession,
  facts: SourceFacts,
  videoIndex: number,
): Promise<PacketEnds> {
  const { streams, startSeconds } = facts;
  const tail =
    facts.durationSeconds === null
      ? undefined
      : await listPackets(session, { part: 'tail', streams }, startSeconds);
  if (tail?.ends.has(videoIndex)) return tail.ends;
  const whole = await listPackets(session, { part: 'whole', streams }, 0);
  // A run that failed before the video stream was listed gives no information about its end.
  if (whole.code !== 0 && !whole.ends.has(videoIndex)) throw createEncodeFailure('encode_failed', whole.log);
  return whole.ends;
}

type PacketListing = { readonly ends: PacketEnds; readonly code: number; readonly log: string };

async function listPackets(
  session: SourceSession,
  selection: PacketSelection,
  startSeconds: number,
): Promise<PacketListing> {
  const { ends, read } = openPacketList(startSeconds);
  const args = packetListArguments(session.input, selection);
  const { code, log } = await runStep(session, { args, onLine: read });
  if (isTruncationLog(log)) throw createEncodeFailure('truncated', log);
  return { ends, code, log };
}
