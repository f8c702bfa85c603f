// Encodes one phase of a long video in chunks, which any worker takes, and joins their segments.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChunkRunner, EncodedChunk } from '../encoder.ts';
import { type CmafTrack, initName, isVideo } from '../model/cmaf-track.ts';
import { readTrackHeader } from '../model/mp4-boxes.ts';
import { type ChunkSpec, isChunkable, planChunks } from '../plan/ladder/chunk-plan.ts';
import { gridSegmentStarts } from '../plan/arguments/encode-plan.ts';
import type { EncodePhase } from '../plan/ladder/encode-phases.ts';
import { percentOf, renditionsOf } from '../plan/ladder/encode-progress.ts';
import { secondsOf } from '../plan/source/source-timeline.ts';
import { assertComplete, recordErrors } from './check-phase.ts';
import { targetSecondsOf } from './encode-phase.ts';
import type { PlannedEncode } from './planned-encode.ts';

/** Empty for a phase that one run encodes: the first one, and those of short videos. */
export function planChunkSpecs(
  { session, source, phases }: PlannedEncode,
  index: number,
  earlier: readonly CmafTrack[],
): readonly ChunkSpec[] {
  const { container } = session.input;
  const { frame, video, timeline } = source;
  const { video: rungs, keyFrames, trackIds } = phases[index] as EncodePhase;
  const chunkSeconds = session.request.chunkSeconds;
  if (index === 0 || rungs === 'copy' || chunkSeconds === undefined) return [];
  if (!isChunkable({ container, video, frame, timeline })) return [];
  const segmentStarts =
    keyFrames === 'grid' ? gridSegmentStarts(timeline) : copiedSegmentStarts(source, earlier);
  const chunks = planChunks({ segmentStarts, frames: timeline.frames, chunkSeconds });
  if (chunks.length < 2) return [];
  const shared = { container, videoIndex: video.index, frame, timeline, rungs, keyFrames, trackIds };
  return chunks.map((chunk) => ({ ...shared, chunk }));
}

/** The copy of the source's video stream has ended: the other renditions have its segments. */
const copiedSegmentStarts = (
  { timeline }: PlannedEncode['source'],
  earlier: readonly CmafTrack[],
): readonly number[] => {
  const copy = earlier.find(isVideo);
  return (copy?.segments ?? []).map(({ start }) =>
    Math.round(start / (copy?.timescale ?? 1) / secondsOf(timeline.frameRate)),
  );
};

type ChunkedPhase = {
  readonly index: number;
  readonly earlier: readonly CmafTrack[];
  readonly specs: readonly ChunkSpec[];
  readonly encodeChunks: ChunkRunner;
};

/** Resolves with the complete tracks of the phase; their segments are stored. */
export async function runChunkedPhase(
  encode: PlannedEncode,
  { index, earlier, specs, encodeChunks }: ChunkedPhase,
): Promise<readonly CmafTrack[]> {
  const { session, source, phases, stored } = encode;
  const { onProgress } = session.request;
  const phase = phases[index] as EncodePhase;
  const renditions = renditionsOf({ ...encode, tracks: earlier, current: phase });
  const report = (frames: number) =>
    onProgress(percentOf({ phases, phase: index, part: frames / source.timeline.frames }), renditions);
  report(0);
  const encoded = await encodeChunks(specs, report);
  const pictures = encoded.reduce((total, [track]) => total + (track?.decodeErrors ?? 0), 0);
  recordErrors(encode, { pictures, sound: 0 });
  const tracks = await joinTracks(encode, encoded);
  await assertComplete(encode, { phase, tracks, log: '' });
  for (const { segments } of tracks) for (const { name } of segments) stored.add(name);
  return tracks;
}

/** The init segments are the same in all chunks. */
const joinTracks = (encode: PlannedEncode, chunks: readonly EncodedChunk[]): Promise<readonly CmafTrack[]> =>
  Promise.all(
    (chunks[0] ?? []).map(async ({ id, init }) => {
      const bytes = Buffer.from(init, 'base64');
      await writeFile(join(encode.session.request.workFolder, initName(id)), bytes);
      const segments = chunks.flatMap((chunk) => chunk.find((track) => track.id === id)?.segments ?? []);
      return { id, ...readTrackHeader(bytes), segments, targetSeconds: targetSecondsOf(encode) };
    }),
  );
