// Parses videos of the cdnhost API; its status numbers differ from those of webhooks (contract B6).
import type { Failure } from '../../assets/asset.ts';
import { toPlainText } from '../../assets/text-limits.ts';
import type { Rendition } from '../../assets/renditions.ts';
import type { StreamReport } from '../../lifecycle/stream-report.ts';
import {
  parseDuration,
  type JsonObject,
  parsePercent,
  parseSize,
  unreadableResponse,
} from '../response-parsers.ts';
import { toJsonObject } from '../verify-webhook.ts';
import type { Inspection } from '../provider.ts';
import { type CdnhostPlaces, FAILED, playbackOf } from './cdnhost-report.ts';

type State = 'waiting' | 'started' | 'succeeded' | 'encode_failed' | 'upload_failed';

/** Created, uploaded, processing, transcoding, finished, error, upload failed; for on-demand encoding also segmenting and playlists created. */
const STATES: readonly State[] = [
  'waiting',
  'started',
  'started',
  'started',
  'succeeded',
  'encode_failed',
  'upload_failed',
  'started',
  'succeeded',
];

export function inspectionOf(video: JsonObject, guid: string, places: CdnhostPlaces): Inspection {
  const { status } = video;
  if (!Number.isSafeInteger(status)) throw unreadableResponse('status');
  // An unknown status: the bytes exist, and nothing else is known.
  const state = STATES[status as number] ?? 'started';
  if (state === 'waiting') return { state };
  const told = { source: 'inspect', provider: 'cdnhost' } as const;
  return {
    state: 'known',
    report: {
      ...told,
      ...reportOf(state, video),
      ...(state === 'succeeded' && playbackOf(guid, places.hostname)),
    },
  };
}

function reportOf(
  state: Exclude<State, 'waiting'>,
  video: JsonObject,
): Omit<StreamReport, 'source' | 'provider'> {
  if (state === 'upload_failed') return { event: 'failed', failure: FAILED[state] };
  if (state === 'encode_failed') return { event: 'failed', ...failureOf(video) };
  const renditions = heightsOf(video).map((height): Rendition => ({ height, state: 'ready' }));
  if (state === 'succeeded')
    return {
      event: 'succeeded',
      complete: true,
      renditions,
      media: { ...parseSize(video), ...parseDuration(video['length']) },
    };
  const progress = parsePercent(video['encodeProgress']);
  return { event: 'started', renditions, ...(progress !== undefined && { progress }) };
}

/** For example `240p,360p`. */
export const heightsOf = ({ availableResolutions: told }: JsonObject): readonly number[] =>
  typeof told === 'string'
    ? told
        .split(',')
        .slice(0, MOST_RENDITIONS)
        .flatMap((name) => (/^\s*[1-9]\d{1,3}p\s*$/.test(name) ? [Number.parseInt(name, 10)] : []))
    : [];

const MOST_RENDITIONS = 20;

/** MP4 files exist for these heights, or for the only rendition. */
const MP4_HEIGHTS = [1080, 720, 360, 240];

/** The best available MP4 file of a video; undefined if there is none. */
export function fileOf(video: JsonObject): string | undefined {
  if (video['hasOriginal'] === true) return 'original';
  const heights = heightsOf(video);
  const height =
    MP4_HEIGHTS.find((known) => heights.includes(known)) ?? (heights.length === 1 ? heights[0] : undefined);
  return video['hasMP4Fallback'] === true && height !== undefined ? `play_${height}p.mp4` : undefined;
}

/** Issue codes of the product. Codes that are no failure reason have no message. */
const ISSUES: readonly (readonly [name: string, failure?: Failure])[] = [
  ['Undefined'],
  ['StreamLengthsDifference'],
  ['TranscodingWarnings'],
  [
    'IncompatibleResolution',
    {
      code: 'unsupported_size',
      message: 'The video host cannot encode a picture of this size',
      retryable: false,
    },
  ],
  [
    'InvalidFramerate',
    {
      code: 'unsupported_frame_rate',
      message: 'The video host cannot encode this frame rate',
      retryable: false,
    },
  ],
  [
    'VideoExceededMaxDuration',
    { code: 'too_long', message: 'The video is longer than the video host takes', retryable: false },
  ],
  [
    'AudioExceededMaxDuration',
    { code: 'too_long', message: 'The sound is longer than the video host takes', retryable: false },
  ],
  [
    'OriginalCorrupted',
    { code: 'not_media', message: 'The video host could not read the file', retryable: false },
  ],
  ['TranscriptionFailed'],
  ['JitIncompatible'],
  ['JitFailed'],
];

/** The first message with a known code, otherwise the last message. */
function failureOf({
  transcodingMessages: told,
}: JsonObject): Pick<StreamReport, 'failure' | 'providerCode'> {
  const messages = (Array.isArray(told) ? told : [])
    .map(toJsonObject)
    .filter((message) => message !== undefined)
    .map(issueOf);
  const issue = messages.find(({ failure }) => failure) ?? messages.at(-1);
  if (!issue) return { failure: FAILED.encode_failed };
  const { providerCode, failure, words } = issue;
  return {
    failure: failure ?? { ...FAILED.encode_failed, ...(words !== undefined && { message: words }) },
    ...(providerCode !== undefined && { providerCode }),
  };
}

function issueOf({ issueCode, message }: JsonObject): {
  readonly providerCode: string | undefined;
  readonly failure: Failure | undefined;
  readonly words: string | undefined;
} {
  const [name, failure] = ISSUES[Number.isInteger(issueCode) ? (issueCode as number) : -1] ?? [];
  return {
    providerCode: name ?? (Number.isSafeInteger(issueCode) ? `issue ${issueCode}` : undefined),
    failure,
    words: toPlainText(message),
  };
}
