// Builds the ffmpeg arguments that cut a part of a source to a file of its own.
import type { AudioTrack } from '../../model/audio-track.ts';
import { isSurround, SURROUND_CHANNELS } from '../source/audio-tracks.ts';
import { type CutRange, seekOptions, type VideoSeek } from './cut-range.ts';
import { type FfmpegInput, inputArguments, readZero, REPORTING } from '../source/ffmpeg-input.ts';
import { H264_ENCODERS } from './h264-encoders.ts';
import type { FrameFacts, SourceStream } from '../../model/source.ts';
import { secondsOf } from '../source/source-timeline.ts';
import { repeatLastFrame, wholeFrames } from './video-graph.ts';

/** A WebVTT file with the cues of the part. */
export type CutSubtitles = { readonly path: string; readonly stream: DescribedStream };

type DescribedStream = Pick<SourceStream, 'language' | 'dispositions'>;

export type CutPlan = VideoSeek & {
  readonly input: FfmpegInput;
  readonly frame: FrameFacts;
  readonly audio: readonly (AudioTrack & { readonly stream: SourceStream })[];
  readonly subtitles: readonly CutSubtitles[];
  readonly output: string;
};

export const cutArguments = (plan: CutPlan): string[] => [
  ...REPORTING,
  ...inputArguments(plan.input, seekOptions(plan)),
  ...plan.subtitles.flatMap(({ path }) => [...OWN_SUBTITLES, '-i', `file:${path}`]),
  '-filter_complex_threads',
  String(plan.input.threads),
  '-filter_complex',
  videoGraph(plan),
  '-map',
  '[v]',
  ...videoOptions(plan),
  ...plan.audio.flatMap((track, index) => audioOptions(track, { index, range: plan.range })),
  ...plan.subtitles.flatMap(({ stream }, index) => [
    '-map',
    `${index + 1}:0`,
    ...describeStream(stream, `s:${index}`),
  ]),
  '-c:s',
  'mov_text',
  '-dn',
  // Where and by whom the source was recorded does not belong to the part.
  '-map_metadata',
  '-1',
  '-map_chapters',
  '-1',
  '-max_muxing_queue_size',
  '1024',
  '-movflags',
  '+faststart',
  '-f',
  'mp4',
  plan.output,
  ...readZero(plan.input.container, plan.streams),
];

const OWN_SUBTITLES = ['-protocol_whitelist', 'file', '-codec_whitelist', 'webvtt', '-f', 'webvtt'] as const;

/**
 * The frames of the renditions, from the one that is on screen at the start; colours stay as they are. The
 * size is even, because H.264 with subsampled colours needs that.
 */
function videoGraph({ frame, videoIndex, timeline, range }: CutPlan): string {
  const { width, height } = frame.displaySize;
  const isRgb = /^(?:gbr|rgb|bgr)/.test(frame.pixelFormat);
  const colours = isRgb ? ':out_color_matrix=bt709:out_range=tv' : '';
  const chain = [
    ...wholeFrames(frame, timeline),
    `scale=${even(width)}:${even(height)}:flags=bicubic${colours}`,
    'setsar=1',
    ...(isRgb ? ['format=yuv444p'] : []),
    repeatLastFrame(timeline),
    `trim=end_frame=${range.frames}`,
  ];
  return `[0:${videoIndex}]${chain.join(',')}[v]`;
}

const even = (length: number): number => Math.max(2, length - (length % 2));

/** Nearly lossless: the renditions are encoded from it. */
const CRF = 14;
/** Reached by noise only: 50 Mbit/s for 1080p at 30 frames per second. */
const MAX_BITS_PER_PIXEL = 0.8;
const MIN_MAX_BITRATE = 2_000_000;
/** A key frame in two seconds lets the renditions use the video stream as it is. */
const GROUP_SECONDS = 2;

const maxVideoBitrate = ({ frame, timeline }: Pick<CutPlan, 'frame' | 'timeline'>): number => {
  const { width, height } = frame.displaySize;
  return Math.max(
    MIN_MAX_BITRATE,
    Math.ceil((width * height * MAX_BITS_PER_PIXEL) / secondsOf(timeline.frameRate)),
  );
};

function videoOptions(plan: CutPlan): string[] {
  const bitrate = maxVideoBitrate(plan);
  return [
    // Never on hardware: a GPU encodes worse at this quality.
    '-c:v',
    H264_ENCODERS.x264.codec,
    '-preset',
    'veryfast',
    '-crf',
    String(CRF),
    '-maxrate',
    String(bitrate),
    '-bufsize',
    String(2 * bitrate),
    '-g',
    String(Math.max(1, Math.round(GROUP_SECONDS / secondsOf(plan.timeline.frameRate)))),
    '-threads:v',
    String(plan.input.threads),
  ];
}

const AUDIO_BITRATE_PER_CHANNEL = 128_000;

/** The channels that the renditions use of a track: at most stereo, or 5.1. */
const channelsOf = (track: AudioTrack): number =>
  isSurround(track) ? SURROUND_CHANNELS : Math.min(track.channels ?? 2, 2);

type AudioPlace = { readonly index: number; readonly range: CutRange };

/** Audio from zero to the end of the part, padded with silence. */
function audioOptions(track: CutPlan['audio'][number], { index, range }: AudioPlace): string[] {
  const channels = channelsOf(track);
  return [
    '-map',
    `0:${track.index}`,
    `-c:a:${index}`,
    'aac',
    `-b:a:${index}`,
    String(channels * AUDIO_BITRATE_PER_CHANNEL),
    `-ac:a:${index}`,
    String(channels),
    `-filter:a:${index}`,
    'atrim=start=0,aresample=48000:async=1:first_pts=0,' +
      `apad=whole_dur=${range.seconds},atrim=end=${range.seconds}`,
    ...describeStream(track.stream, `a:${index}`),
  ];
}

/** Flags by which players choose a track. */
const FLAGS = [
  'default',
  'original',
  'dub',
  'comment',
  'forced',
  'hearing impaired',
  'visual impaired',
  'captions',
  'descriptions',
];

/** MP4 has languages of three letters (ISO 639-2), and no names of tracks that ffmpeg reads back. */
const LANGUAGE = /^[a-z]{3}$/;

function describeStream({ language, dispositions = [] }: DescribedStream, place: string): string[] {
  const flags = dispositions.filter((name) => FLAGS.includes(name)).map((name) => name.replace(' ', '_'));
  return [
    ...(language && LANGUAGE.test(language) ? [`-metadata:s:${place}`, `language=${language}`] : []),
    `-disposition:${place}`,
    flags.length > 0 ? flags.join('+') : '0',
  ];
}

const SLACK_BYTES = 16 * 1024 ** 2;

/** Twice what the bit rates allow, which only a defect can exceed. */
export function maxCutBytes({ audio, range, ...plan }: Omit<CutPlan, 'output' | 'subtitles'>): number {
  const bits =
    maxVideoBitrate(plan) +
    audio.reduce((total, track) => total + channelsOf(track) * AUDIO_BITRATE_PER_CHANNEL, 0);
  return SLACK_BYTES + 2 * range.seconds * (bits / 8);
}

/** Decoded and encoded pixels, for the time limit of the run. */
export const cutCost = ({ frame, timeline, range, position }: CutPlan): number => {
  const { width, height } = frame.displaySize;
  const seconds = range.startSeconds - position + 2 * range.seconds;
  return (width * height * seconds) / secondsOf(timeline.frameRate);
};
