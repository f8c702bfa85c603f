// Reads where the key frames of video tracks are in their segments.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type CmafTrack, isVideo, type VideoTrack } from '../packaging/cmaf-track.ts';
import type { IFrameTrack } from '../packaging/i-frame-playlist.ts';
import { type KeyFrameRange, readKeyFrameRange } from '../packaging/key-frame-range.ts';

/** Much larger than all that precedes the list of samples. */
const HEAD_BYTES = 4096;

/** Omits tracks with a segment that does not start with a key frame. */
export async function readIFrameTracks(
  folder: string,
  tracks: readonly CmafTrack[],
): Promise<readonly IFrameTrack[]> {
  const read = await Promise.all(tracks.filter(isVideo).map((track) => readIFrameTrack(folder, track)));
  return read.filter((track) => track !== undefined);
}

async function readIFrameTrack(folder: string, track: VideoTrack): Promise<IFrameTrack | undefined> {
  const keyFrames: KeyFrameRange[] = [];
  for (const { name } of track.segments) {
    const range = readKeyFrameRange(await readHead(join(folder, name)));
    if (!range) return undefined;
    keyFrames.push(range);
  }
  return { track, keyFrames };
}

async function readHead(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
