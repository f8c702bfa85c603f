// Encodes one chunk of a video: its segments are those that one run of the whole video would create.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChunkMismatchError, type ChunkRequest, EncodeError, type EncodedChunk } from '../encoder.ts';
import { type CmafTrack, initName } from '../model/cmaf-track.ts';
import type { ChunkSpec } from '../plan/ladder/chunk-plan.ts';
import { countDecodeErrors } from '../plan/source/decode-errors.ts';
import { DEFAULT_ENCODE_LIMITS, encodeCost, timeLimitMs } from '../plan/ladder/encode-cost.ts';
import { buildEncodeStep, maxOutputBytes } from '../plan/arguments/encode-plan.ts';
import { secondsOf } from '../plan/source/source-timeline.ts';
import { openSegmentCollector } from './ffmpeg-output.ts';
import { type EncoderOptions, type FfmpegSetup, runStepOrFail, threadsOf } from './ffmpeg-session.ts';

export async function encodeChunk(
  setup: FfmpegSetup,
  { spec, workFolder, ...request }: ChunkRequest,
  { limits = DEFAULT_ENCODE_LIMITS, concurrency = 1 }: EncoderOptions,
): Promise<EncodedChunk> {
  const { container, chunk, rungs, timeline } = spec;
  const folder = join(workFolder, 'chunk');
  await mkdir(folder);
  const collector = openSegmentCollector({
    from: folder,
    to: workFolder,
    trackIds: spec.trackIds,
    offset: { segments: chunk.firstSegment, start: timesOf(spec, chunk.firstFrame) },
  });
  const input = { path: request.source, container, threads: threadsOf(concurrency) };
  const kilobits = rungs.map(({ maxKilobits }) => maxKilobits);
  const frames = { ...timeline, frames: chunk.frames };
  const errors = countDecodeErrors(spec.videoIndex);
  await runDecoding({ ...setup, folder, request }, errors, {
    // Containers without a zero are not divided into chunks.
    ...buildEncodeStep({ ...spec, input, streams: [], audio: [], folder }),
    limits: {
      stallMs: limits.stallSeconds * 1000,
      wallMs: timeLimitMs(encodeCost({ timeline: frames, rungs })),
      output: { folder, bytes: maxOutputBytes(kilobits, secondsOf(timeline.frameRate, chunk.frames)) },
    },
    onLine: () => {},
  });
  const tracks = await collector.collect();
  if (tracks.length !== spec.trackIds.length || !tracks.every((track) => isAsPlanned(track, spec)))
    throw new ChunkMismatchError(`chunk ${chunk.number} does not have the planned segments`);
  const { pictures } = errors.counts();
  return Promise.all(
    tracks.map(async ({ id, segments }) => ({
      id,
      init: (await readFile(join(workFolder, initName(id)))).toString('base64'),
      segments,
      ...(pictures > 0 && { decodeErrors: pictures }),
    })),
  );
}

/** ffmpeg fails where it cannot decode most of a chunk, though the whole video may have enough pictures. */
async function runDecoding(
  context: Parameters<typeof runStepOrFail>[0],
  errors: ReturnType<typeof countDecodeErrors>,
  step: Parameters<typeof runStepOrFail>[1],
): Promise<void> {
  try {
    await runStepOrFail(context, { ...step, onLogLine: errors.read });
  } catch (error) {
    const isDamaged = errors.counts().pictures > 0;
    if (isDamaged && error instanceof EncodeError && error.code === 'encode_failed')
      throw new ChunkMismatchError('the part of the source is damaged');
    throw error;
  }
}

const timesOf = ({ timeline: { frameRate } }: ChunkSpec, frames: number) => ({
  numerator: frames * frameRate.denominator,
  denominator: frameRate.numerator,
});

/** ffmpeg reports success where frames are missing; segments then end early. */
function isAsPlanned({ timescale, segments }: CmafTrack, { timeline, chunk }: ChunkSpec): boolean {
  const ticks = (frames: number) => Math.round(secondsOf(timeline.frameRate, frames) * timescale);
  let frame = chunk.firstFrame;
  return (
    segments.length === chunk.segmentFrames.length &&
    segments.every(({ start, duration }, index) => {
      const first = frame;
      frame += chunk.segmentFrames[index] ?? 0;
      return start === ticks(first) && duration === ticks(frame) - ticks(first);
    })
  );
}
