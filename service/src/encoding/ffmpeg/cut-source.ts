// Cuts a part of a source to a file of its own, and checks that the file is exact.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cutCaptionFile } from '../../captions/caption-file.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import { type Cut, type CutRequest, type EmbeddedSubtitles, EncodeError } from '../encoder.ts';
import {
  type CutPlan,
  type CutSubtitles,
  cutArguments,
  cutCost,
  maxCutBytes,
} from '../plan/arguments/cut-plan.ts';
import {
  type CutRange,
  keyFrameArguments,
  seekPositions,
  toCutRange,
  type VideoSeek,
} from '../plan/arguments/cut-range.ts';
import { timeLimitMs } from '../plan/ladder/encode-cost.ts';
import type { SourceStream } from '../model/source.ts';
import { isCaptionTrack } from '../plan/source/caption-streams.ts';
import { hasNoZero } from '../plan/source/ffmpeg-input.ts';
import { secondsOf } from '../plan/source/source-timeline.ts';
import { openPacketReader, videoPacketArguments } from '../plan/source/video-packets.ts';
import { type ExaminedSource, examineSource } from './examine-source.ts';
import { convertClosedCaptions } from './captions/extract-closed-captions.ts';
import { convertSubtitles } from './extract-subtitles.ts';
import { createEncodeFailure, runStep, runStepOrFail, type SourceSession } from './ffmpeg-session.ts';

type CutSession = SourceSession<CutRequest>;

export async function cutSource(session: CutSession): Promise<Cut> {
  const source = await examineSource(session);
  const range = toCutRange(session.request, source.timeline);
  if (!range)
    throw new EncodeError('clip_failed', 'The source ends before the time at which the clip starts');
  const { subtitles, dropped } = await cutSubtitles(session, source, range);
  const { frame, timeline, facts, video } = source;
  const part = { range, timeline, streams: facts.streams, videoIndex: video.index };
  const plan: CutPlan = {
    ...part,
    input: session.input,
    frame,
    audio: source.audio.map((track) => ({ ...track, stream: getStream(source, track.index) })),
    subtitles,
    position: await getSeekPosition(session, part),
    output: join(session.folder, 'cut.mp4'),
  };
  await runCut(session, plan);
  await assertExact(session, plan);
  return { path: plan.output, droppedSubtitles: dropped };
}

const getStream = ({ facts }: ExaminedSource, index: number): SourceStream =>
  facts.streams.find((stream) => stream.index === index) as SourceStream;

type SoughtPart = Omit<VideoSeek, 'position'>;

/**
 * The latest position from which ffmpeg decodes the first frame of the part: some formats have no index, so
 * that a seek ends between two key frames. In a recording, ffmpeg seeks from the first packet of all streams,
 * also of those that no run reads; the renditions begin with the first packet of picture and sound.
 */
async function getSeekPosition(session: CutSession, part: SoughtPart): Promise<number> {
  const halfFrame = secondsOf(part.timeline.frameRate) / 2;
  let exactTimes: readonly number[] | undefined;
  for (const position of seekPositions(part.range, part.timeline)) {
    if (position === 0) break;
    const time = (await listKeyTimes(session, { ...part, position })).findLast((at) => at <= halfFrame);
    if (time === undefined) continue;
    if (!hasNoZero(session.input.container)) return position;
    exactTimes ??= await listKeyTimes(session, { ...part, position: 0 });
    if (exactTimes.some((at) => Math.abs(at - time) < halfFrame)) return position;
  }
  return 0;
}

async function listKeyTimes(session: CutSession, seek: VideoSeek): Promise<readonly number[]> {
  const { read, summary } = openPacketReader(0);
  await runStep(session, { args: keyFrameArguments(session.input, seek), onLine: read });
  return summary()?.keyTimes ?? [];
}

async function runCut(session: CutSession, plan: CutPlan): Promise<void> {
  const { folder, limits, request } = session;
  // A run that has to decode what is before the part makes no frame for long.
  const stallMs = plan.position > 0 ? limits.stallSeconds * 1000 : undefined;
  await runStepOrFail(session, {
    args: cutArguments(plan),
    limits: {
      wallMs: timeLimitMs(cutCost(plan)),
      output: { folder, bytes: Math.ceil(Math.min(maxCutBytes(plan), 2 * request.maxBytes)) },
      ...(stallMs !== undefined && { stallMs }),
    },
  });
}

/** ffmpeg reports success for a source that it cannot decode to the end. */
async function assertExact(session: CutSession, { output, range, timeline }: CutPlan): Promise<void> {
  const { read, summary } = openPacketReader(0);
  const input = { path: output, container: 'mov', threads: session.input.threads } as const;
  const { log } = await runStepOrFail(session, { args: videoPacketArguments(input, 0), onLine: read });
  const cut = summary();
  const frame = secondsOf(timeline.frameRate);
  if (cut?.count !== range.frames || Math.abs(cut.end - cut.start - range.seconds) > frame)
    throw createEncodeFailure('truncated', `${cut?.count} of ${range.frames} frames\n${log}`);
}

type Subtitles = { readonly subtitles: readonly CutSubtitles[]; readonly dropped: readonly string[] };

/** Cues are cut as text, because ffmpeg neither shortens a cue at the end nor keeps one at the start. */
async function cutSubtitles(
  session: CutSession,
  source: ExaminedSource,
  { startSeconds, seconds }: CutRange,
): Promise<Subtitles> {
  const part = {
    startMs: Math.round(startSeconds * 1000),
    endMs: Math.round((startSeconds + seconds) * 1000),
  };
  const folder = join(session.folder, 'subtitles');
  await mkdir(folder);
  const subtitles: CutSubtitles[] = [];
  const dropped: string[] = [];
  for (const found of await findSubtitles(session, { source, folder, dropped })) {
    const text = toCutText(found.bytes, part);
    if (text === 'invalid') dropped.push(found.language);
    if (text === 'invalid' || text === undefined) continue;
    const path = join(folder, `cut-${subtitles.length}.vtt`);
    await writeFile(path, text);
    subtitles.push({ path, stream: describeSubtitles(source, found) });
  }
  return { subtitles, dropped };
}

type SubtitleSearch = {
  readonly source: ExaminedSource;
  readonly folder: string;
  /** Languages that cannot be read. */
  readonly dropped: string[];
};

/** Text subtitles, and closed captions in other languages. The clip does not fail without them. */
async function findSubtitles(
  session: CutSession,
  { source, folder, dropped }: SubtitleSearch,
): Promise<readonly EmbeddedSubtitles[]> {
  const request = { ...session.request, workFolder: folder };
  const found: EmbeddedSubtitles[] = [];
  for (const read of [
    () => convertSubtitles(session, request, source.facts),
    () => convertClosedCaptions(session, request, source),
  ]) {
    try {
      const known = new Set(found.map(({ language }) => language));
      found.push(...(await read()).filter(({ language }) => !known.has(language)));
    } catch (error) {
      if (!(error instanceof EncodeError)) throw error;
      dropped.push('und');
    }
  }
  // MP4 has no names for further channels of a language.
  dropped.push(...found.map(({ language }) => language).filter(isPrivate));
  return found.filter(({ language }) => !isPrivate(language));
}

const isPrivate = (language: string): boolean => language.includes('-x-');

function describeSubtitles(source: ExaminedSource, { index }: EmbeddedSubtitles): CutSubtitles['stream'] {
  const stream = getStream(source, index);
  if (stream.kind === 'Subtitle' && !isCaptionTrack(stream)) return stream;
  const language = stream.kind === 'Subtitle' ? stream.language : undefined;
  return { ...(language && { language }), dispositions: ['captions'] };
}

function toCutText(
  bytes: Uint8Array,
  part: Pick<CutRequest, 'startMs' | 'endMs'>,
): string | 'invalid' | undefined {
  try {
    return cutCaptionFile(bytes, part);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return 'invalid';
  }
}
