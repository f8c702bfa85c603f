// Collects the segments that ffmpeg has completed, also while it still runs, and reads their times.
import { appendFile, lstat, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EncodedFile, EncodeRequest } from '../encoder.ts';
import {
  type CmafSegment,
  type CmafTrack,
  initName,
  readSegmentHead,
  segmentName,
  segmentSeconds,
} from '../model/cmaf-track.ts';
import { moveSegment } from '../packaging/moved-segment.ts';
import { readTrackHeader, SEGMENT_HEAD_BYTES, type TrackHeader } from '../model/mp4-boxes.ts';
import type { PictureTrack } from '../plan/source/colour-matrix.ts';
import type { Rational } from '../model/source.ts';
import { createEncodeFailure } from './ffmpeg-session.ts';

type CollectedFolder = {
  /** Where ffmpeg writes `r0-init.mp4`, `r0-00001.m4s` … in the order of its maps. */
  readonly from: string;
  /** Where the files lie afterwards, named by the ids of their tracks. */
  readonly to: string;
  readonly trackIds: readonly number[];
  /** Undefined: the segments are the first ones of the video. */
  readonly offset?: SegmentOffset | undefined;
};

/** Where the first segment lies in the whole video; `start` in seconds. */
type SegmentOffset = { readonly segments: number; readonly start: Rational };

export type SegmentCollector = {
  /** Moves the segments that are complete now. Returns the tracks that have segments, with all of them. */
  collect(): Promise<readonly CmafTrack[]>;
};

/** ffmpeg renames a segment when it is complete, and completes an init segment before the first of these. */
export function openSegmentCollector({ from, to, trackIds, offset }: CollectedFolder): SegmentCollector {
  const tracks = new Map<number, { readonly header: TrackHeader; readonly segments: CmafSegment[] }>();
  const take = async (name: string, newName: string): Promise<string> => {
    const path = join(to, newName);
    await rename(join(from, name), path);
    // ffmpeg cannot write to the new folder, so the file cannot be replaced after this check.
    if (!(await lstat(path)).isFile()) throw new Error('ffmpeg created a segment that is not a plain file');
    return path;
  };
  const openTrack = async (local: number, id: number) => {
    const path = await take(initName(local), initName(id));
    const track = { header: readTrackHeader(await readFile(path)), segments: [] };
    tracks.set(id, track);
    return track;
  };
  return {
    async collect() {
      const names = new Set(await readdir(from));
      for (const [local, id] of trackIds.entries()) {
        let next = (tracks.get(id)?.segments.length ?? 0) + 1;
        if (!names.has(segmentName(local, next))) continue;
        const { header, segments } = tracks.get(id) ?? (await openTrack(local, id));
        for (; names.has(segmentName(local, next)); next += 1) {
          const name = segmentName(id, next + (offset?.segments ?? 0));
          const path = await take(segmentName(local, next), name);
          segments.push({ name, ...(await readSegment(path, header, offset)) });
        }
      }
      return [...tracks]
        .map(([id, { header, segments }]) => ({ id, ...header, segments: [...segments] }))
        .sort((a, b) => a.id - b.id);
    },
  };
}

/** Moves the segment to its place in the whole video first, if it is one of a chunk. */
async function readSegment(
  path: string,
  { size, timescale }: TrackHeader,
  offset: SegmentOffset | undefined,
): Promise<Omit<CmafSegment, 'name'>> {
  await using file = await open(path, offset ? 'r+' : 'r');
  const { size: bytes } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SEGMENT_HEAD_BYTES), 0, SEGMENT_HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  if (offset) {
    moveSegment(head, { ticks: toTicks(offset.start, timescale), segments: offset.segments });
    await file.write(head, 0, bytesRead, 0);
  }
  return { bytes, ...readSegmentHead(head, { isOfVideo: size !== null }) };
}

function toTicks({ numerator, denominator }: Rational, timescale: number): number {
  const ticks = (numerator * timescale) / denominator;
  if (!Number.isSafeInteger(ticks)) throw new Error('a chunk starts between two ticks of its track');
  return ticks;
}

const MIN_LAST_SECONDS = 1;

/**
 * Joins a very short last segment with the one before: hls.js never ends a stream with it. A segment may have
 * several fragments (ISO/IEC 23000-19, 7.3.3).
 */
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

export const fileOf = ({ workFolder }: Pick<EncodeRequest, 'workFolder'>, name: string): EncodedFile => ({
  name,
  path: join(workFolder, name),
});

/** Writes a file to store. */
export async function writeText(
  request: Pick<EncodeRequest, 'workFolder'>,
  name: string,
  text: string,
): Promise<EncodedFile> {
  const file = fileOf(request, name);
  await writeFile(file.path, text);
  return file;
}

/** An init segment and one media segment form a playable file. */
export async function writeExcerpt(parts: readonly string[], path: string): Promise<void> {
  await writeFile(path, await Promise.all(parts.map((part) => readFile(part))));
}

/** Longer than any init segment. */
const EXCERPT_HEAD_BYTES = 64 * 1024;

/** Size and colours of the video track. Throws EncodeError for a file that is no excerpt of one. */
export async function readExcerptTrack(path: string): Promise<PictureTrack> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(EXCERPT_HEAD_BYTES), 0, EXCERPT_HEAD_BYTES, 0);
  try {
    const { size, ...track } = readTrackHeader(buffer.subarray(0, bytesRead));
    if (size) return { ...track, size };
  } catch (error) {
    throw createEncodeFailure('encode_failed', String(error));
  }
  throw createEncodeFailure('encode_failed', 'the track has no pictures');
}
