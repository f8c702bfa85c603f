// A video in the edgehost API and in its webhooks, which spell the keys of an error differently.
import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../route.ts';

export type VideoState = 'pendingupload' | 'downloading' | 'queued' | 'inprogress' | 'ready' | 'error';
export type Status = {
  readonly state: VideoState;
  readonly step?: 'encoding' | 'manifest';
  /** Text, for example `100.000000`. */
  readonly pctComplete?: string;
  readonly errorReasonCode: string;
  readonly errorReasonText: string;
};
export type EdgehostVideo = {
  readonly uid: string;
  readonly creator: string | null;
  readonly thumbnail: string;
  readonly thumbnailTimestampPct: number;
  readonly readyToStream: boolean;
  readonly status: Status;
  readonly meta: JsonObject;
  readonly created: string;
  readonly modified: string;
  readonly uploaded: string | null;
  readonly uploadExpiry: string | null;
  readonly size: number;
  readonly preview: string;
  readonly allowedOrigins: readonly string[];
  readonly requireSignedURLs: boolean;
  readonly maxSizeBytes: number | null;
  readonly maxDurationSeconds: number | null;
  readonly scheduledDeletion: string | null;
  /** Seconds; -1 while unknown, like width and height. */
  readonly duration: number;
  readonly input: { readonly width: number; readonly height: number };
  readonly playback: { readonly hls: string; readonly dash: string };
  readonly watermark: null;
};

export const ERRORS = {
  ERR_NON_VIDEO: 'The file was not recognized as a valid video file.',
  ERR_DURATION_EXCEED_CONSTRAINT: 'The video is longer than its maxDurationSeconds.',
  ERR_FETCH_ORIGIN_ERROR: 'The video could not be downloaded from the given address.',
  ERR_MALFORMED_VIDEO: 'The file is a video that cannot be read.',
  ERR_DURATION_TOO_SHORT: 'The video is shorter than 0.1 seconds.',
  ERR_UNKNOWN: 'An unknown error occurred.',
} as const;

type VideoOptions = { readonly origin: string; readonly now: number; readonly options: JsonObject };

export function newVideo({ origin, now, options }: VideoOptions): EdgehostVideo {
  const uid = randomBytes(16).toString('hex');
  const base = `${origin}/${uid}`;
  const time = new Date(now).toISOString();
  const unset: EdgehostVideo = {
    uid,
    creator: null,
    thumbnail: `${base}/thumbnails/thumbnail.jpg`,
    thumbnailTimestampPct: 0,
    readyToStream: false,
    status: { state: 'pendingupload', errorReasonCode: '', errorReasonText: '' },
    meta: {},
    created: time,
    modified: time,
    uploaded: null,
    uploadExpiry: new Date(now + 30 * 60_000).toISOString(),
    size: 0,
    preview: `${base}/watch`,
    allowedOrigins: [],
    requireSignedURLs: false,
    maxSizeBytes: null,
    maxDurationSeconds: null,
    scheduledDeletion: null,
    duration: -1,
    input: { width: -1, height: -1 },
    playback: { hls: `${base}/manifest/video.m3u8`, dash: `${base}/manifest/video.mpd` },
    watermark: null,
  };
  return { ...unset, ...editsIn(options) };
}

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  creator: (value) => typeof value === 'string' && value.length <= 64,
  meta: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  requireSignedURLs: (value) => typeof value === 'boolean',
  allowedOrigins: (value) => Array.isArray(value) && value.every((origin) => typeof origin === 'string'),
  thumbnailTimestampPct: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  maxDurationSeconds: (value) => typeof value === 'number' && value >= 1 && value <= 36_000,
  scheduledDeletion: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  uploadExpiry: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
};

const given = (body: JsonObject) =>
  Object.entries({ ...body, uploadExpiry: body['uploadExpiry'] ?? body['expiry'] }).filter(
    ([name, value]) => name in KINDS && value !== undefined && value !== null,
  );

/** Names of fields with invalid values. */
export const wrongFields = (body: JsonObject): string[] =>
  given(body)
    .filter(([name, value]) => !KINDS[name]?.(value))
    .map(([name]) => name);

export const editsIn = (body: JsonObject): Partial<EdgehostVideo> => Object.fromEntries(given(body));

/** Errors in webhooks use `errReasonCode` and `errReasonText`. */
export function webhookBody(video: EdgehostVideo): string {
  if (video.status.state !== 'error') return JSON.stringify(video);
  const { errorReasonCode, errorReasonText, ...status } = video.status;
  return JSON.stringify({
    ...video,
    status: { ...status, errReasonCode: errorReasonCode, errReasonText: errorReasonText },
  });
}
