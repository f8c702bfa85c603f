// Joins a very short last segment with the one before: hls.js never ends a stream with it.
import { appendFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type CmafTrack, segmentSeconds } from '../model/cmaf-track.ts';

const MIN_LAST_SECONDS = 1;

/** `folder`: of the segments. A segment may have several fragments (ISO/IEC 23000-19, 7.3.3). */
export async function joinShortEnd(track: CmafTrack, folder: string): Promise<CmafTrack> {
  const [before, last] = track.segments.slice(-2);
  if (!before || !last || segmentSeconds(track, last) >= MIN_LAST_SECONDS) return track;
  await appendFile(join(folder, before.name), await readFile(join(folder, last.name)));
  await rm(join(folder, last.name));
  const joined = {
    ...before,
    duration: before.duration + last.duration,
    bytes: before.bytes + last.bytes,
  };
  return { ...track, segments: [...track.segments.slice(0, -2), joined] };
}
