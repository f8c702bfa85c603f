// Creates the thumbnail and the poster of a video from its renditions.
import { join } from 'node:path';
import { posterName, THUMBNAIL } from '../../storage/object-key.ts';
import { type CmafTrack, initName, type VideoTrack } from '../model/cmaf-track.ts';
import {
  choosePosterSource,
  chooseThumbnailSource,
  type ThumbnailSource,
} from '../model/thumbnail-choice.ts';
import { posterArguments, thumbnailArguments } from '../plan/arguments/poster-arguments.ts';
import type { ContinueRequest, EncodedFile } from '../encoder.ts';
import { fileOf, writeExcerpt } from './ffmpeg-output.ts';
import { runStepOrFail } from './ffmpeg-session.ts';
import type { PlannedEncode } from './planned-encode.ts';

/** Creates the default thumbnail, and the poster if one was requested. */
export async function createPosters(
  planned: PlannedEncode,
  tracks: readonly CmafTrack[],
  openSegment: OpenSegment | undefined,
): Promise<EncodedFile[]> {
  const { posterTimeMs: timeMs = null } = planned.session.request;
  const thumbnail = await createPosterFile(planned, chooseThumbnailSource(tracks), {
    name: THUMBNAIL,
    argumentsOf: thumbnailArguments,
    openSegment,
  });
  if (timeMs === null) return [thumbnail];
  const source = choosePosterSource(tracks, timeMs);
  const { startSeconds } = source;
  return [
    thumbnail,
    await createPosterFile(planned, source, {
      name: posterName(timeMs),
      argumentsOf: (files) => posterArguments({ ...files, startSeconds, timeMs }),
      openSegment,
    }),
  ];
}

type OpenSegment = NonNullable<ContinueRequest['openSegment']>;

type PosterFile = {
  readonly name: string;
  /** Undefined: all segments are in the folder of the request. */
  readonly openSegment: OpenSegment | undefined;
  readonly argumentsOf: (files: {
    readonly excerpt: string;
    readonly output: string;
    readonly track: VideoTrack;
  }) => readonly string[];
};

async function createPosterFile(
  { session, stored }: PlannedEncode,
  { track, segment }: ThumbnailSource,
  { name, argumentsOf, openSegment }: PosterFile,
): Promise<EncodedFile> {
  const excerpt = fileOf(session.request, 'excerpt.mp4').path;
  const poster = fileOf(session.request, name);
  const { workFolder } = session.request;
  const opened = stored.has(segment.name) ? await openSegment?.(segment.name) : undefined;
  const parts = [join(workFolder, initName(track.id)), opened ?? join(workFolder, segment.name)];
  await writeExcerpt(parts, excerpt);
  await runStepOrFail(session, { args: argumentsOf({ excerpt, output: poster.path, track }) });
  return poster;
}
