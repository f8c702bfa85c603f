// A video in the cdnhost API; the API's `status` and the webhook's `Status` have different numbers.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../route.ts';

/** Status numbers of GET video. */
export const API_STATUS = {
  created: 0,
  uploaded: 1,
  processing: 2,
  transcoding: 3,
  finished: 4,
  error: 5,
  uploadFailed: 6,
  jitSegmenting: 7,
  jitPlaylistsCreated: 8,
} as const;

/** Status numbers of webhooks. */
export const WEBHOOK_STATUS = {
  queued: 0,
  processing: 1,
  encoding: 2,
  finished: 3,
  resolutionFinished: 4,
  failed: 5,
  uploadStarted: 6,
  uploadFinished: 7,
  uploadFailed: 8,
  captionsGenerated: 9,
  titleGenerated: 10,
} as const;

type TranscodingMessage = {
  readonly timeStamp: string;
  readonly level: number;
  readonly issueCode: number;
  readonly message: string;
  readonly value: string;
};
export type CdnhostCaption = { readonly srclang: string; readonly label: string; readonly version: number };
export type CdnhostVideo = {
  readonly videoLibraryId: number;
  readonly guid: string;
  readonly title: string;
  readonly dateUploaded: string;
  readonly collectionId: string;
  readonly status: number;
  /** Seconds. */
  readonly length: number;
  readonly framerate: number;
  readonly width: number;
  readonly height: number;
  /** For example `240p,360p`; null before the first rendition. */
  readonly availableResolutions: string | null;
  readonly outputCodecs: string | null;
  readonly encodeProgress: number;
  readonly storageSize: number;
  readonly hasMP4Fallback: boolean;
  readonly hasOriginal: boolean;
  readonly originalHash: string | null;
  readonly thumbnailFileName: string;
  readonly thumbnailBlurhash: string | null;
  readonly thumbnailTime: number | null;
  readonly captions: readonly CdnhostCaption[];
  readonly chapters: readonly unknown[];
  readonly moments: readonly unknown[];
  readonly metaTags: readonly unknown[];
  readonly transcodingMessages: readonly TranscodingMessage[];
};

const UNKNOWN = {
  status: API_STATUS.created,
  length: 0,
  framerate: 0,
  width: 0,
  height: 0,
  availableResolutions: null,
  outputCodecs: null,
  encodeProgress: 0,
  storageSize: 0,
  hasMP4Fallback: true,
  hasOriginal: false,
  originalHash: null,
  thumbnailFileName: 'thumbnail.jpg',
  thumbnailBlurhash: null,
  captions: [],
  chapters: [],
  moments: [],
  metaTags: [],
  transcodingMessages: [],
} as const;

export function newVideo(
  videoLibraryId: number,
  now: number,
  { title, collectionId, thumbnailTime }: JsonObject,
): CdnhostVideo {
  return {
    ...UNKNOWN,
    videoLibraryId,
    guid: randomUUID(),
    title: String(title),
    dateUploaded: new Date(now).toISOString(),
    collectionId: typeof collectionId === 'string' ? collectionId : '',
    thumbnailTime: typeof thumbnailTime === 'number' ? thumbnailTime : null,
  };
}

const EDITABLE = ['title', 'collectionId', 'chapters', 'moments', 'metaTags'] as const;

export function editsIn(body: JsonObject): Partial<CdnhostVideo> {
  return Object.fromEntries(
    EDITABLE.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]),
  );
}
