// Parses videos of the cdnhost API; its status numbers differ from those of webhooks (contract B6).
import type { Failure } from '../../assets/asset.ts';
import { toPlainText } from '../../assets/text-limits.ts';
import type { Rendition } from '../../assets/renditions.ts';
import type { StreamReport } from '../../lifecycle/decisions/stream-report.ts';
import {
  parseByteSize,
  parseDuration,
  type ResponseObject,
  parsePercent,
  parseSize,
  unreadableResponse,
} from '../shared/response-parsers.ts';
import { toJsonObject } from '../shared/verify-webhook.ts';
import type { Inspection, UploadOrder } from '../provider.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import { FAILURES, toReportedPlayback } from './cdnhost-report.ts';

const ASSET_ID = /\[mediary:([0-9a-f-]{36})\]$/i;

/** cdnhost documents no maximum; this limit keeps the title below 255 characters. */
const MAX_NAME_LENGTH = 200;

/** Ends with the asset id, so that unlinked videos of this service can be identified. */
export const toTitle = ({ filename, assetId }: Pick<UploadOrder, 'filename' | 'assetId'>): string =>
  `${filename.slice(0, MAX_NAME_LENGTH).toWellFormed()} [mediary:${assetId}]`;

/** Undefined for a title of another origin. */
export function parseAssetId(title: unknown): string | undefined {
  const id = typeof title === 'string' ? ASSET_ID.exec(title.trimEnd())?.[1] : undefined;
  return id !== undefined && isUuid(id) ? id : undefined;
}

type VideoState = 'waiting' | 'started' | 'succeeded' | 'encode_failed' | 'upload_failed';

/**
 * Created, uploaded, processing, transcoding, finished, error, upload failed; for on-demand encoding also
 * segmenting and playlists created.
 */
const STATES: readonly VideoState[] = [
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

export function toInspection(video: ResponseObject, guid: string): Inspection {
  const { status } = video;
  if (!Number.isSafeInteger(status)) throw unreadableResponse('status');
  // An unknown status: the bytes exist, and nothing else is known.
  const state = STATES[status as number] ?? 'started';
  if (state === 'waiting') return { state };
  return {
    state: 'known',
    report: {
      source: 'inspect',
      provider: 'cdnhost',
      ...reportOf(state, video),
      ...(state === 'succeeded' && { playback: toReportedPlayback(guid) }),
    },
  };
}

function reportOf(
  state: Exclude<VideoState, 'waiting'>,
  video: ResponseObject,
): Omit<StreamReport, 'source' | 'provider'> {
  if (state === 'upload_failed') return { event: 'failed', failure: FAILURES[state] };
  if (state === 'encode_failed') return { event: 'failed', ...failureOf(video) };
  const renditions = parseHeights(video).map((height): Rendition => ({ height, state: 'ready' }));
  const media = {
    ...parseSize(video),
    ...parseDuration(video['length']),
    ...parseByteSize(video['storageSize']),
  };
  if (state === 'succeeded') return { event: 'succeeded', complete: true, renditions, media };
  const progress = parsePercent(video['encodeProgress']);
  return { event: 'started', renditions, media, ...(progress !== undefined && { progress }) };
}

/** For example `240p,360p`. */
export const parseHeights = ({ availableResolutions: names }: ResponseObject): readonly number[] =>
  typeof names === 'string'
    ? names
        .split(',')
        .slice(0, MAX_RENDITIONS)
        .flatMap((name) => (/^\s*[1-9]\d{1,3}p\s*$/.test(name) ? [Number.parseInt(name, 10)] : []))
    : [];

const MAX_RENDITIONS = 20;

/** MP4 files exist for these heights, or for the only rendition. */
const MP4_HEIGHTS = [1080, 720, 360, 240];

/** The best available MP4 file of a video; undefined if there is none. */
export function findDownloadFile(video: ResponseObject): string | undefined {
  if (video['hasOriginal'] === true) return 'original';
  const heights = parseHeights(video);
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
      message: 'The video provider does not accept pictures of this size.',
      retryable: false,
    },
  ],
  [
    'InvalidFramerate',
    {
      code: 'unsupported_frame_rate',
      message: 'The video provider does not accept this frame rate.',
      retryable: false,
    },
  ],
  [
    'VideoExceededMaxDuration',
    { code: 'too_long', message: 'The video is longer than the video provider accepts.', retryable: false },
  ],
  [
    'AudioExceededMaxDuration',
    { code: 'too_long', message: 'The audio is longer than the video provider accepts.', retryable: false },
  ],
  [
    'OriginalCorrupted',
    { code: 'not_media', message: 'The video provider could not read the file.', retryable: false },
  ],
  ['TranscriptionFailed'],
  ['JitIncompatible'],
  ['JitFailed'],
];

/** The first message with a known code, otherwise the last message. */
function failureOf({
  transcodingMessages: list,
}: ResponseObject): Pick<StreamReport, 'failure' | 'providerCode'> {
  const messages = (Array.isArray(list) ? list : [])
    .map(toJsonObject)
    .filter((message) => message !== undefined)
    .map(toIssue);
  const issue = messages.find(({ failure }) => failure) ?? messages.at(-1);
  if (!issue) return { failure: FAILURES.encode_failed };
  const { providerCode, failure, text } = issue;
  return {
    failure: failure ?? { ...FAILURES.encode_failed, ...(text !== undefined && { message: text }) },
    ...(providerCode !== undefined && { providerCode }),
  };
}

function toIssue({ issueCode, message }: ResponseObject): {
  readonly providerCode: string | undefined;
  readonly failure: Failure | undefined;
  readonly text: string | undefined;
} {
  const [name, failure] = ISSUES[Number.isInteger(issueCode) ? (issueCode as number) : -1] ?? [];
  return {
    providerCode: name ?? (Number.isSafeInteger(issueCode) ? `issue ${issueCode}` : undefined),
    failure,
    text: toPlainText(message),
  };
}
