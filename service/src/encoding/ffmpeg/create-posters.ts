// Creates the thumbnail and the poster of a video from its renditions.
import { join } from 'node:path';
import { posterName, THUMBNAIL } from '../../storage/object-key.ts';
import { type CmafTrack, initName, type VideoTrack } from '../packaging/cmaf-track.ts';
import {
  choosePosterSource,
  chooseThumbnailSource,
  type ThumbnailSource,
} from '../packaging/thumbnail-choice.ts';
import { posterArguments, thumbnailArguments } from '../plan/poster-arguments.ts';
import type { EncodedFile } from '../encoder.ts';
import { fileOf, writeExcerpt } from './ffmpeg-output.ts';
import { runStepOrFail } from './ffmpeg-session.ts';
import type { PlannedEncode } from './planned-encode.ts';

/** Creates the default thumbnail, and the poster if one was requested. */
export async function createPosters(
  planned: PlannedEncode,
  tracks: readonly CmafTrack[],
): Promise<EncodedFile[]> {
  const { posterTimeMs: timeMs = null } = planned.session.request;
  const thumbnail = await createPosterFile(planned, chooseThumbnailSource(tracks), {
    name: THUMBNAIL,
    argumentsOf: thumbnailArguments,
  });
  if (timeMs === null) return [thumbnail];
  const source = choosePosterSource(tracks, timeMs);
  const startSeconds = source.segment.start / source.track.timescale;
  return [
    thumbnail,
    await createPosterFile(planned, source, {
      name: posterName(timeMs),
      argumentsOf: (files) => posterArguments({ ...files, startSeconds, timeMs }),
    }),
  ];
}

type PosterFile = {
  readonly name: string;
  readonly argumentsOf: (files: {
    readonly excerpt: string;
    readonly output: string;
    readonly track: VideoTrack;
  }) => readonly string[];
};

async function createPosterFile(
  { session, chunked }: PlannedEncode,
  { track, segment }: ThumbnailSource,
  { name, argumentsOf }: PosterFile,
): Promise<EncodedFile> {
  const excerpt = fileOf(session.request, 'excerpt.mp4').path;
  const poster = fileOf(session.request, name);
  const { chunks, workFolder } = session.request;
  const stored = chunked.has(segment.name) ? await chunks?.openSegment(segment.name) : undefined;
  const parts = [join(workFolder, initName(track.id)), stored ?? join(workFolder, segment.name)];
  await writeExcerpt(parts, excerpt);
  await runStepOrFail(session, { args: argumentsOf({ excerpt, output: poster.path, track }) });
  return poster;
}
