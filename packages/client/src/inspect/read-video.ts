// Reads what a video or audio file contains, by the rules of the service's own probe.
import { inputFormatsOf, type ProbedFormat, probeFile } from '@mediary/media-rules/probe-file';
import type { MediaFacts, ProbeResult } from '@mediary/media-rules/video-facts';
import { undefinedIfBroken } from '@mediary/media-rules/video-traits';
import { CanvasSink, Input, type InputAudioTrack, type InputVideoTrack, Logging, LogLevel } from 'mediabunny';
import type { BoundedReader } from './bounded-reader.ts';
import type { FileInspection, InspectedAudio, InspectedVideo } from './inspection.ts';
import { openMovieSource } from './movie-source.ts';
import { PLACEHOLDER_PX, readCanvas } from './placeholder.ts';

type VideoContent = Pick<FileInspection, 'video' | 'audio' | 'rotation' | 'is_mirrored' | 'placeholder'>;

type VideoReading = VideoContent & {
  /** Undefined where the budget did not allow to find out. */
  readonly result: ProbeResult | undefined;
  readonly lacksFrames: boolean;
};

const UNKNOWN: VideoContent = {
  video: null,
  audio: [],
  rotation: null,
  is_mirrored: null,
  placeholder: null,
};

export async function readVideo(
  reader: BoundedReader,
  format: ProbedFormat,
  wantsPlaceholder: boolean,
): Promise<VideoReading> {
  Logging.level = LogLevel.Silent;
  const { source, lacksFrames } = await openMovieSource(reader, format.container === 'mov');
  const input = new Input({ formats: inputFormatsOf(format), source });
  try {
    const result = await probe(input, format, lacksFrames);
    // A budget that is used up makes a good file look broken.
    if ('refused' in result && result.refused !== 'picture_too_large' && reader.isExhausted())
      return { ...UNKNOWN, result: undefined, lacksFrames };
    const content = 'refused' in result ? UNKNOWN : await readContent(input, result.facts);
    const placeholder = wantsPlaceholder && !('refused' in result) ? await readFirstFrame(input) : null;
    return { ...content, placeholder, result, lacksFrames };
  } finally {
    input.dispose();
  }
}

/** Without its frames, the duration of a video is the one that its header states. */
async function probe(input: Input, format: ProbedFormat, lacksFrames: boolean): Promise<ProbeResult> {
  const result = await probeFile(input, format);
  if (!lacksFrames || 'refused' in result) return result;
  const seconds = await undefinedIfBroken(input.getDurationFromMetadata());
  return { facts: { ...result.facts, durationMs: seconds ? Math.round(seconds * 1000) : null } };
}

async function readContent(input: Input, { traits }: MediaFacts): Promise<VideoContent> {
  const tracks = (await undefinedIfBroken(input.getTracks())) ?? [];
  const track = tracks.find((each) => each.isVideoTrack());
  const audio: InspectedAudio[] = [];
  for (const each of tracks) if (each.isAudioTrack()) audio.push(await readAudio(each));
  if (!track) return { ...UNKNOWN, audio };
  return {
    ...UNKNOWN,
    audio,
    rotation: (await undefinedIfBroken(track.getRotation())) ?? null,
    is_mirrored: (await undefinedIfBroken(track.getFlip())) ?? null,
    video: {
      codec: toFfmpegName(await undefinedIfBroken(track.getCodec())),
      fps: await readFrameRate(track, traits.framesPerSecond),
      hdr: traits.isHdr ?? null,
    } satisfies InspectedVideo,
  };
}

/** Other containers than MP4 and QuickTime have no index of frames: some frames are read. */
const MAX_FRAMES = 60;
/** Fewer frames have no rate. */
const MIN_FRAMES = 8;

async function readFrameRate(track: InputVideoTrack, known: number | undefined): Promise<number | null> {
  const metrics =
    known === undefined
      ? await undefinedIfBroken(track.computeFrameRateMetrics({ targetPacketCount: MAX_FRAMES }))
      : undefined;
  const measured = metrics && metrics.probedPacketCount >= MIN_FRAMES ? metrics.averageFrameRate : undefined;
  const rate = known ?? measured;
  return rate === undefined ? null : Math.round(rate * 1000) / 1000;
}

async function readAudio(track: InputAudioTrack): Promise<InspectedAudio> {
  const language = await undefinedIfBroken(track.getLanguageCode());
  return {
    codec: toFfmpegName(await undefinedIfBroken(track.getCodec())),
    channels: (await undefinedIfBroken(track.getNumberOfChannels())) ?? null,
    sample_rate_hz: (await undefinedIfBroken(track.getSampleRate())) ?? null,
    language: language === undefined || language === UNDETERMINED ? null : language,
  };
}

const UNDETERMINED = 'und';

const FFMPEG_NAMES: Readonly<Record<string, string>> = { avc: 'h264' };

const toFfmpegName = (codec: string | null | undefined): string | null =>
  codec ? (FFMPEG_NAMES[codec] ?? codec.replaceAll('-', '_')) : null;

/** Null where the browser cannot decode the video. */
async function readFirstFrame(input: Input): Promise<string | null> {
  const track = await undefinedIfBroken(input.getPrimaryVideoTrack());
  if (!track || !(await undefinedIfBroken(track.canDecode()))) return null;
  const width = await undefinedIfBroken(track.getDisplayWidth());
  const height = await undefinedIfBroken(track.getDisplayHeight());
  if (!width || !height) return null;
  const scale = Math.min(1, PLACEHOLDER_PX / Math.max(width, height));
  const sink = new CanvasSink(track, {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
    fit: 'fill',
  });
  const frame = await undefinedIfBroken(
    track.getFirstTimestamp().then((start) => sink.getCanvas(Math.max(0, start))),
  );
  return frame ? readCanvas(frame.canvas) : null;
}
