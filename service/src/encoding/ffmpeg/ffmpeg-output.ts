// Reads the tracks that ffmpeg wrote, and extracts the segment for the thumbnail.
import { type FileHandle, open, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CmafSegment,
  type CmafTrack,
  describeAudio,
  initName,
  segmentName,
} from '../packaging/cmaf-track.ts';
import { audioRenditions } from '../plan/audio-tracks.ts';
import type { EncodePlan } from '../plan/encode-plan.ts';
import { readSegmentTimes, readTrackHeader } from '../packaging/mp4-boxes.ts';

/** Much larger than `styp` and `sidx` of a segment. */
const HEAD_BYTES = 1024;

/** The tracks `r0` … in order. Throws for a track without init segment or media segments. */
export async function readTracks(
  folder: string,
  { rungs, audio }: Pick<EncodePlan, 'rungs' | 'audio'>,
): Promise<readonly CmafTrack[]> {
  const names = new Set(await readdir(folder));
  const renditions = audioRenditions(audio);
  const count = rungs.length + renditions.length;
  const tracks = await Promise.all(Array.from({ length: count }, (_, id) => readTrack(folder, names, id)));
  return describeAudio(tracks, { firstId: rungs.length, renditions });
}

async function readTrack(folder: string, names: ReadonlySet<string>, id: number): Promise<CmafTrack> {
  const header = readTrackHeader(await readFile(join(folder, initName(id))));
  const segments: CmafSegment[] = [];
  for (let number = 1; names.has(segmentName(id, number)); number += 1)
    segments.push(await readSegment(folder, segmentName(id, number)));
  if (segments.length === 0) throw new Error(`track ${id} has no segments`);
  return { id, ...header, segments };
}

async function readSegment(folder: string, name: string): Promise<CmafSegment> {
  await using file = await open(join(folder, name));
  const { size: bytes } = await file.stat();
  return { name, bytes, ...readSegmentTimes(await headOf(file)) };
}

async function headOf(file: FileHandle): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

/** An init segment and one media segment form a playable file. */
export async function writeExcerpt(
  folder: string,
  track: CmafTrack,
  { segment, path }: { segment: CmafSegment; path: string },
): Promise<void> {
  const parts = [initName(track.id), segment.name].map((name) => readFile(join(folder, name)));
  await writeFile(path, await Promise.all(parts));
}
