// Parses cdnhost webhooks: status numbers become events, playback URLs use the library's host (contract A6,
// B5, B6).
import type { Failure, Warning } from '../../assets/asset.ts';
import type { HostedPlayback } from '../../assets/asset-view.ts';
import type { ReportedPlayback } from '../../assets/playback-manifest.ts';
import type { StreamReport } from '../../lifecycle/decisions/stream-report.ts';
import { parseJson } from '../../platform/values/strict-json.ts';
import { originOf } from '../shared/hosted-settings.ts';
import { isVideoId, toJsonObject, NOT_ACTIONABLE } from '../shared/verify-webhook.ts';
import type { ParsedWebhook } from '../provider.ts';

/** `hostname`: the delivery host. */
export type CdnhostLibrary = {
  readonly libraryId: string | undefined;
  readonly hostname: string | undefined;
};

export const FAILURES = {
  encode_failed: {
    code: 'encode_failed',
    message: 'The video provider could not encode this video.',
    retryable: true,
  },
  upload_failed: {
    code: 'upload_failed',
    message: 'The upload to the video provider failed.',
    retryable: true,
  },
} as const satisfies Record<string, Failure>;

type StatusReport = Pick<StreamReport, 'event' | 'complete' | 'failure'>;

/** `Status` of a webhook. Other numbers require no action. */
const STATUSES: Readonly<Record<number, StatusReport>> = {
  3: { event: 'succeeded', complete: true },
  4: { event: 'succeeded', complete: false },
  7: { event: 'started' },
  5: { event: 'failed', failure: FAILURES.encode_failed },
  8: { event: 'failed', failure: FAILURES.upload_failed },
};

export function parseCdnhostWebhook(body: Uint8Array, library: CdnhostLibrary): ParsedWebhook {
  const members = toJsonObject(parseJson(body));
  const { VideoLibraryId, VideoGuid: guid, Status } = members ?? {};
  if (!isVideoId(guid) || !areIntegers(body, { VideoLibraryId, Status })) return NOT_ACTIONABLE;
  if (library.libraryId !== undefined && library.libraryId !== String(VideoLibraryId))
    return { reason: 'wrong_library' };
  const status = Object.hasOwn(STATUSES, Status as number) ? STATUSES[Status as number] : undefined;
  if (!status) return NOT_ACTIONABLE;
  const report = {
    source: 'webhook',
    provider: 'cdnhost',
    ...status,
    ...(status.event === 'succeeded' && { playback: toReportedPlayback(guid) }),
  } as const;
  return { report, ref: { provider: 'cdnhost', providerVideoId: guid } };
}

/** JSON.parse rounds 3.0000000000000001 to an integer, so the digits must also appear in the raw body. */
function areIntegers(body: Uint8Array, members: Readonly<Record<string, unknown>>): boolean {
  const text = Buffer.from(body).toString('latin1');
  const appears = (name: string, value: unknown) =>
    new RegExp(`"${name}"\\s*:\\s*${value}(?:\\.0+)?\\s*[,}]`).test(text);
  return Object.entries(members).every(
    ([name, value]) => Number.isSafeInteger(value) && appears(name, value),
  );
}

/** cdnhost reports no URLs: all are computed. */
export const toReportedPlayback = (guid: string): ReportedPlayback => ({
  kind: 'hosted',
  videoId: guid,
  urls: {},
});

export function cdnhostPlayback(guid: string, hostname: string | undefined): HostedPlayback {
  if (hostname === undefined)
    return { urls: { hls: null, dash: null, thumbnail: null }, warning: UNCONFIGURED };
  const folder = `${originOf(hostname)}${folderOf(guid)}`;
  return { urls: { hls: `${folder}playlist.m3u8`, dash: null, thumbnail: `${folder}thumbnail.jpg` } };
}

/** Base URL of a video's files on the delivery host. */
export const folderOf = (guid: string): string => `/${encodeURIComponent(guid)}/`;

const UNCONFIGURED: Warning = {
  code: 'playback_unconfigured',
  message: 'The video is ready, but CDNHOST_STREAM_HOSTNAME is not set, so there are no playback URLs.',
};
