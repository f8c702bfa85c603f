// Settings of the encoder: renditions, limits, and how work is shared.
import { EXTRA_CODECS } from '@mediary/contract/enums';
import { VIDEO_EXTRAS, type VideoExtra } from '../assets/video-extras.ts';
import type { Settings } from '../platform/settings/read-settings.ts';
import {
  choice,
  integer,
  list,
  optionalInteger,
  optionalText,
  type Setting,
  url,
} from '../platform/settings/setting.ts';
import { ladderSetting } from './ladder-setting.ts';
import { PASSTHROUGH_CODECS } from './model/audio-track.ts';
import { DEFAULT_ENCODE_LIMITS } from './plan/ladder/encode-cost.ts';
import { SEGMENT_SECONDS } from './plan/ladder/source-copy.ts';

const DAY_S = 86_400;
const GIB = 1024 ** 3;
const NONE = 'none';

function codecs<T extends string>(name: string, about: string, choices: readonly T[]): Setting<readonly T[]> {
  const allowed = choices.join(', ');
  return list(name, about, {
    byDefault: NONE,
    allowed,
    parse(named, report) {
      for (const each of named.filter((codec) => !choices.some((choice) => choice === codec)))
        report(`${name} names "${each}", which is not supported. Supported: ${allowed}`);
      return choices.filter((codec) => named.includes(codec));
    },
  });
}

const ENCODING_SETTINGS = {
  title: 'Encoding',
  settings: {
    ladder: ladderSetting,
    extraCodecs: codecs(
      'EXTRA_CODECS',
      'Renditions in these codecs in addition to H.264 ([guide](guides/renditions.md#further-codecs)).',
      EXTRA_CODECS,
    ),
    hdrCodecs: codecs(
      'HDR_CODECS',
      'Videos in PQ or HLG also get renditions in these codecs that keep their dynamic range, beside ' +
        'those in ' +
        'SDR ([guide](guides/renditions.md#hdr)).',
      EXTRA_CODECS,
    ),
    audioPassthrough: codecs(
      'AUDIO_PASSTHROUGH',
      'Videos also keep their 5.1 sound in these codecs as it is, beside AAC, for televisions and ' +
        'receivers ([guide](guides/renditions.md#surround-sound)).',
      PASSTHROUGH_CODECS,
    ),
    loudness: {
      lufs: optionalInteger(
        'LOUDNESS_TARGET_LUFS',
        'LUFS (EBU R128) to which the sound of videos and audio is brought ' +
          '([guide](guides/renditions.md#loudness)).',
        { byDefault: 'the loudness of the original', min: -31, max: -9 },
      ),
      maxPeakDbtp: integer(
        'LOUDNESS_MAX_PEAK_DBTP',
        'dBTP; the highest true peak of sound that `LOUDNESS_TARGET_LUFS` changes.',
        { fallback: -1, min: -9, max: 0 },
      ),
    },
    videoExtras: list(
      'VIDEO_EXTRAS',
      'Files that are made of each video after its encoding ([guide](guides/video-extras.md)); `mp4` ' +
        'stores its ' +
        'best rendition up to 1080p a second time, the others less than 1 MB and the sound track. Audio ' +
        'assets have `audio` alone.',
      {
        byDefault: VIDEO_EXTRAS.join(','),
        allowed: `${VIDEO_EXTRAS.join(', ')}, or ${NONE}`,
        parse: parseExtras,
      },
    ),
    encodeLimits: {
      maxDurationSeconds: integer(
        'MAX_VIDEO_DURATION_S',
        'Seconds; longer videos and audio fail with `too_long`.',
        {
          fallback: DEFAULT_ENCODE_LIMITS.maxDurationSeconds,
          min: 1,
          max: 7 * DAY_S,
        },
      ),
      maxCost: integer(
        'MAX_ENCODE_COST',
        'Output pixels of all renditions (12 hours of 1080p at 30 frames per second cost 4.8 × 10¹²; ' +
          'those in ' +
          'AV1 and HEVC count 2.5 times); videos that cost more fail with `too_demanding`.',
        { fallback: DEFAULT_ENCODE_LIMITS.maxCost, min: 1, max: Number.MAX_SAFE_INTEGER },
      ),
      stallSeconds: integer(
        'ENCODE_STALL_S',
        'Seconds without a new frame after which an encode fails with `timed_out`.',
        { fallback: DEFAULT_ENCODE_LIMITS.stallSeconds, min: 1, max: DAY_S },
      ),
    },
    encodeConcurrency: optionalInteger(
      'ENCODE_CONCURRENCY',
      'n: of each kind of work, one process has n slots for one owner and one more for others: first ' +
        'phases of ' +
        'videos, other renditions, clips ([guide](guides/going-to-production.md#several-videos-at-once)).',
      { byDefault: 'a quarter of the cores, at least 1', min: 1, max: 64 },
    ),
    encodeChunkSeconds: integer(
      'ENCODE_CHUNK_S',
      'At least two such lengths long, a video is encoded in chunks of about so many seconds by all ' +
        'workers together, between which owners take turns; ' +
        `a multiple of ${SEGMENT_SECONDS}; 0 encodes each video on one worker ` +
        '([guide](guides/going-to-production.md#long-videos-on-several-workers)).',
      { fallback: 60, min: 0, max: 3600 },
    ),
    videoEncoder: choice(
      'VIDEO_ENCODER',
      '`nvenc` or `vaapi`: encodes H.264 by a GPU; `auto` takes the first of them that works. Each is ' +
        'tried at ' +
        'the start, and where it fails videos are encoded in software ' +
        '([guide](guides/going-to-production.md#hardware-encoders)).',
      { choices: ['software', 'auto', 'vaapi', 'nvenc'], fallback: 'software' },
    ),
    ffmpegPath: optionalText(
      'FFMPEG_PATH',
      'ffmpeg 5.1 or newer with libx264.',
      'searched in `PATH`, then the npm package',
    ),
    encoderMemoryBytes: integer(
      'ENCODER_MEMORY_BYTES',
      'Address space of one ffmpeg process; a video that needs more fails with `out_of_memory`.',
      { fallback: 3 * GIB, min: GIB / 2, max: 1024 * GIB },
    ),
    encoderCallbackUrl: url(
      'ENCODER_CALLBACK_URL',
      'Where the encoder sends its reports.',
      'address of the listener',
    ),
  },
};

export function readEncodingSettings(settings: Settings) {
  const { ladder, extraCodecs, hdrCodecs, audioPassthrough, loudness, ...values } =
    settings.read(ENCODING_SETTINGS);
  // Chunks are whole segments.
  if (values.encodeChunkSeconds % SEGMENT_SECONDS !== 0)
    settings.problems.push(`ENCODE_CHUNK_S must be 0 or a multiple of ${SEGMENT_SECONDS}`);
  const { lufs, maxPeakDbtp } = loudness;
  return {
    ...values,
    loudness: lufs === undefined ? undefined : { lufs, maxPeakDbtp },
    ladder: { ...ladder, extraCodecs, hdrCodecs, audioPassthrough },
  };
}

function parseExtras(named: readonly string[], report: (problem: string) => void): readonly VideoExtra[] {
  if (named.length === 0) return VIDEO_EXTRAS;
  if (named.length === 1 && named[0] === NONE) return [];
  const videoExtras = VIDEO_EXTRAS.filter((extra) => named.includes(extra));
  if (videoExtras.length !== new Set(named).size)
    report(`VIDEO_EXTRAS may list ${VIDEO_EXTRAS.join(', ')}, or be ${NONE}`);
  return videoExtras;
}
