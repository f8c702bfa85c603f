// Encoder that runs ffmpeg once per codec, checks the result and writes the manifests.
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { posterName, THUMBNAIL } from '../../storage/object-key.ts';
import {
  type CmafTrack,
  type VideoTrack,
  averageBitrate,
  codecOf,
  initName,
  isVideo,
  playlistName,
} from '../packaging/cmaf-track.ts';
import { formatDashManifest } from '../packaging/dash-manifest.ts';
import { assertCost } from '../plan/encode-cost.ts';
import type { EncodePlan } from '../plan/encode-plan.ts';
import type { Rendition } from '../../assets/renditions.ts';
import type { EncodedFile, Encoder, EncodeRequest, Encoding } from '../encoder.ts';
import { describeRung, encodeAllCodecs } from './codec-runs.ts';
import { writeExcerpt } from './ffmpeg-output.ts';
import {
  type FfmpegSetup,
  type EncoderOptions,
  type Session,
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

export const openFfmpegEncoder = ({
  limits,
  concurrency,
  ladder,
  ...setup
}: FfmpegSetup & EncoderOptions): Encoder => ({
  encode: (request) => encode(openSession(setup, request, { limits, concurrency, ladder })),
  createPoster: async (request) => {
    const folder = dirname(request.output);
    await runStepOrFail({ ...setup, folder, request }, { args: posterArguments(request) });
  },
});

async function encode(session: Session): Promise<Encoding> {
  const { request, input } = session;
  const { frame, video, audio, timeline, kilobits, warnings } = await examineSource(session);
  const framesPerSecond = 1 / secondsOf(timeline.frameRate);
  const rungs = chooseLadder(frame.displaySize, {
    source: { framesPerSecond, kilobits, codec: video.codec },
    ladder: session.ladder,
  });
  const plan = {
    input,
    frame,
    videoIndex: video.index,
    audioIndex: audio?.index,
    timeline,
    rungs,
    folder: request.workFolder,
  };
  assertCost(plan, session.limits);
  const { tracks, warnings: codecWarnings } = await encodeAllCodecs(session, plan);
  return {
    files: [
      ...(await writeManifests(tracks, plan, request)),
      ...mediaFiles(tracks, request),
      ...(await createPosters(session, tracks)),
    ],
    renditions: tracks.filter(isVideo).map(readyRendition),
    ...frame.displaySize,
    durationMs: Math.round(timeline.durationSeconds * 1000),
    warnings: [...warnings, ...codecWarnings],
  };
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
  ...describeRung(track.size, codecOf(track)),
  state: 'ready',
  bitrate: averageBitrate(track),
});

const fileOf = ({ workFolder }: EncodeRequest, name: string): EncodedFile => ({
  name,
  path: join(workFolder, name),
});
