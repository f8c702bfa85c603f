// Encoder that runs ffmpeg once for all rungs, checks the result and writes the manifests.
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { posterName, THUMBNAIL } from '../../storage/object-key.ts';
import {
  type CmafTrack,
  type VideoTrack,
  averageBitrate,
  initName,
  isVideo,
  playlistName,
  trackSeconds,
} from '../packaging/cmaf-track.ts';
import { formatDashManifest } from '../packaging/dash-manifest.ts';
import { audioRenditions } from '../plan/audio-tracks.ts';
import { assertCost, encodeCost, timeLimitMs } from '../plan/encode-cost.ts';
import { AUDIO_KILOBITS, type EncodePlan, encodeArguments } from '../plan/encode-plan.ts';
import type { Rendition } from '../../assets/renditions.ts';
import type { EncodedFile, Encoder, EncodeRequest, Encoding } from '../encoder.ts';
import { readTracks, writeExcerpt } from './ffmpeg-output.ts';
import { readAudioFacts } from './measured-audio.ts';
import {
  type FfmpegSetup,
  type EncoderOptions,
  type Session,
  createEncodeFailure,
  openSession,
  runStepOrFail,
} from './ffmpeg-session.ts';
import { examineSource } from './examine-source.ts';
import { formatMediaPlaylist, formatMultivariantPlaylist } from '../packaging/hls-playlist.ts';
import { chooseLadder } from '../plan/ladder.ts';
import { posterArguments, thumbnailArguments } from '../plan/poster-arguments.ts';
import { secondsOf } from '../plan/source-timeline.ts';
import {
  choosePosterSource,
  chooseThumbnailSource,
  type ThumbnailSource,
} from '../packaging/thumbnail-choice.ts';

const OUTPUT_SLACK_BYTES = 64 * 1024 ** 2;
const TOLERANCE_SECONDS = 0.1;

export const openFfmpegEncoder = ({
  limits,
  concurrency,
  ...setup
}: FfmpegSetup & EncoderOptions): Encoder => ({
  encode: (request) => encode(openSession(setup, request, { limits, concurrency })),
  createPoster: async (request) => {
    const folder = dirname(request.output);
    await runStepOrFail({ ...setup, folder, request }, { args: posterArguments(request) });
  },
});

async function encode(session: Session): Promise<Encoding> {
  const { request, input } = session;
  const { frame, video, audio, timeline, warnings } = await examineSource(session);
  const rungs = chooseLadder(frame.displaySize);
  const plan = {
    input,
    frame,
    videoIndex: video.index,
    audio,
    timeline,
    rungs,
    folder: request.workFolder,
  };
  assertCost(plan, session.limits);
  const log = await render(session, plan);
  const tracks = await readTracks(request.workFolder, plan);
  if (!tracks.every((track) => isComplete(track, plan))) throw createEncodeFailure('truncated', log);
  return {
    files: [
      ...(await writeManifests(tracks, plan, request)),
      ...mediaFiles(tracks, request),
      ...(await createPosters(session, tracks)),
    ],
    renditions: tracks.filter(isVideo).map(readyRendition),
    audio: await readAudioFacts(audio, request.workFolder),
    ...frame.displaySize,
    durationMs: Math.round(timeline.durationSeconds * 1000),
    warnings,
  };
}

async function render(session: Session, plan: EncodePlan): Promise<string> {
  const { durationSeconds } = plan.timeline;
  const { onProgress, workFolder } = session.request;
  const renditions = plan.rungs.map(
    ({ width, height }): Rendition => ({ width, height, state: 'encoding', bitrate: null }),
  );
  let percent = 0;
  onProgress(percent, renditions);
  const onLine = (line: string): void => {
    const done = /^out_time_us=(\d+)$/.exec(line)?.[1];
    if (done === undefined) return;
    percent = Math.max(percent, Math.min(99, Math.floor(Number(done) / 10_000 / durationSeconds)));
    onProgress(percent, renditions);
  };
  const limits = {
    stallMs: session.limits.stallSeconds * 1000,
    wallMs: timeLimitMs(encodeCost(plan)),
    output: { folder: workFolder, bytes: maxOutputBytes(plan) },
  };
  return (await runStepOrFail(session, { args: encodeArguments(plan), limits, onLine })).log;
}

/** Twice the allowed bit rates, which only a defect can exceed. */
function maxOutputBytes({ rungs, audio, timeline }: EncodePlan): number {
  const kilobits = [
    ...rungs.map(({ maxKilobits }) => maxKilobits),
    ...audioRenditions(audio).map(({ channels }) => AUDIO_KILOBITS[channels]),
  ].reduce((total, rate) => total + rate, 0);
  return OUTPUT_SLACK_BYTES + 2 * 125 * timeline.durationSeconds * kilobits;
}

/** ffmpeg reports success for a source that ends early. */
function isComplete(track: CmafTrack, { timeline }: EncodePlan): boolean {
  const tolerance = Math.max(TOLERANCE_SECONDS, secondsOf(timeline.frameRate));
  return (
    track.segments[0]?.start === 0 && Math.abs(trackSeconds(track) - timeline.durationSeconds) <= tolerance
  );
}

async function writeManifests(
  tracks: readonly CmafTrack[],
  { timeline }: EncodePlan,
  request: EncodeRequest,
): Promise<EncodedFile[]> {
  const presentation = { tracks, frameRate: timeline.frameRate, childFolder: request.childFolder };
  const manifests = [
    ['hls.m3u8', formatMultivariantPlaylist(presentation)],
    ['dash.mpd', formatDashManifest(presentation)],
    ...tracks.map((track) => [playlistName(track.id), formatMediaPlaylist(track)] as const),
  ] as const;
  return Promise.all(
    manifests.map(async ([name, text]) => {
      const file = fileOf(request, name);
      await writeFile(file.path, text);
      return file;
    }),
  );
}

const mediaFiles = (tracks: readonly CmafTrack[], request: EncodeRequest): EncodedFile[] =>
  tracks
    .flatMap(({ id, segments }) => [initName(id), ...segments.map(({ name }) => name)])
    .map((name) => fileOf(request, name));

/** Creates the default thumbnail, and the poster if one was requested. */
async function createPosters(session: Session, tracks: readonly CmafTrack[]): Promise<EncodedFile[]> {
  const { posterTimeMs: timeMs = null } = session.request;
  const thumbnail = await createPosterFile(session, chooseThumbnailSource(tracks), {
    name: THUMBNAIL,
    argumentsOf: thumbnailArguments,
  });
  if (timeMs === null) return [thumbnail];
  const argumentsOf = (excerpt: string, output: string) => posterArguments({ excerpt, output, timeMs });
  return [
    thumbnail,
    await createPosterFile(session, choosePosterSource(tracks, timeMs), {
      name: posterName(timeMs),
      argumentsOf,
    }),
  ];
}

type PosterFile = {
  readonly name: string;
  readonly argumentsOf: (excerpt: string, output: string) => readonly string[];
};

async function createPosterFile(
  session: Session,
  { track, segment }: ThumbnailSource,
  { name, argumentsOf }: PosterFile,
): Promise<EncodedFile> {
  const excerpt = fileOf(session.request, 'excerpt.mp4').path;
  const poster = fileOf(session.request, name);
  await writeExcerpt(session.request.workFolder, track, { segment, path: excerpt });
  await runStepOrFail(session, { args: argumentsOf(excerpt, poster.path) });
  return poster;
}

const readyRendition = (track: VideoTrack): Rendition => ({
  ...track.size,
  state: 'ready',
  bitrate: averageBitrate(track),
});

const fileOf = ({ workFolder }: EncodeRequest, name: string): EncodedFile => ({
  name,
  path: join(workFolder, name),
});
