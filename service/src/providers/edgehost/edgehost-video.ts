// Parses edgehost videos from webhooks and from the API (contract A6, B5, B6).
import type { Failure, Warning } from '../../assets/asset.ts';
import { toPlainText } from '../../assets/text-limits.ts';
import type { HostedPlayback } from '../../assets/asset-view.ts';
import {
  type GivenUrls,
  hasRefusedUrl,
  type HostedManifest,
  parseReportedUrl,
  type PlayUrls,
} from '../../assets/playback-manifest.ts';
import type { StreamReport } from '../../lifecycle/decisions/stream-report.ts';
import {
  parseByteSize,
  parseDuration,
  type ResponseObject,
  parseObject,
  parsePercent,
  parseSize,
  unreadableResponse,
} from '../shared/response-parsers.ts';
import { originOf } from '../shared/hosted-settings.ts';
import { isVideoId, NOT_ACTIONABLE, toJsonObject } from '../shared/verify-webhook.ts';
import type { Inspection, ParsedWebhook } from '../provider.ts';
import { parseJson } from '../../platform/values/strict-json.ts';

type VideoSource = { readonly source: 'webhook' | 'inspect'; readonly uid: string };

export function parseEdgehostWebhook(body: Uint8Array): ParsedWebhook {
  const video = toJsonObject(parseJson(body));
  const status = toJsonObject(video?.['status']);
  const uid = video?.['uid'];
  if (!video || !status || !isVideoId(uid)) return NOT_ACTIONABLE;
  const report = toFinalReport(video, status, { source: 'webhook', uid });
  return report ? { report, ref: { provider: 'edgehost', providerVideoId: uid } } : NOT_ACTIONABLE;
}

/** The result of a finished encoding; undefined while it is running. */
function toFinalReport(
  video: ResponseObject,
  status: ResponseObject,
  { source, uid }: VideoSource,
): StreamReport | undefined {
  const origin = { source, provider: 'edgehost' } as const;
  if (status['state'] === 'ready')
    return {
      ...origin,
      event: 'succeeded',
      complete: isComplete(status),
      ...toReportedPlayback(video, uid),
      media: toMedia(video),
    };
  if (status['state'] === 'error') return { ...origin, event: 'failed', ...failureOf(status) };
  return undefined;
}

export function toInspection(video: ResponseObject, from: VideoSource): Inspection {
  const status = parseObject(video['status'], 'status');
  if (typeof status['state'] !== 'string') throw unreadableResponse('state');
  if (status['state'] === 'pendingupload') return { state: 'waiting' };
  const progress = parsePercent(status['pctComplete']);
  const started = {
    source: from.source,
    provider: 'edgehost',
    event: 'started',
    ...(progress !== undefined && { progress }),
  } as const;
  return { state: 'known', report: toFinalReport(video, status, from) ?? started };
}

/** Lower renditions may be playable before the higher ones are finished. `pctComplete` is text. */
const isComplete = ({ pctComplete: percent }: ResponseObject): boolean =>
  typeof percent !== 'string' || !(Number.parseFloat(percent) < 100);

function toReportedPlayback(video: ResponseObject, uid: string): Pick<StreamReport, 'playback' | 'warnings'> {
  const given = toJsonObject(video['playback']) ?? {};
  const urls = {
    hls: parseReportedUrl(given['hls']),
    dash: parseReportedUrl(given['dash']),
    thumbnail: parseReportedUrl(video['thumbnail']),
  };
  return {
    playback: { kind: 'hosted', videoId: uid, urls },
    warnings: hasRefusedUrl(urls) ? [URL_REFUSED] : [],
  };
}

/** The URLs that edgehost gave, completed by computed ones. */
export function edgehostPlayback(
  { videoId, ...given }: HostedManifest,
  host: string | undefined,
): HostedPlayback {
  const known: GivenUrls = { ...(host !== undefined && computedUrls(host, videoId)), ...given };
  const { hls, dash, thumbnail } = known;
  return {
    urls: { hls: hls ?? null, dash: dash ?? null, thumbnail: thumbnail ?? null },
    ...([hls, dash, thumbnail].includes(undefined) && { warning: UNCONFIGURED }),
  };
}

function computedUrls(host: string, uid: string): PlayUrls {
  const base = `${originOf(host)}/${encodeURIComponent(uid)}`;
  return {
    hls: `${base}/manifest/video.m3u8`,
    dash: `${base}/manifest/video.mpd`,
    thumbnail: `${base}/thumbnails/thumbnail.jpg`,
  };
}

const toMedia = (video: ResponseObject) => ({
  ...parseSize(toJsonObject(video['input']) ?? {}),
  ...parseDuration(video['duration']),
  ...parseByteSize(video['size']),
});

/** Maps error codes of the product to ours; its documentation spells the keys in two ways. */
function failureOf(status: ResponseObject): Pick<StreamReport, 'failure' | 'providerCode'> {
  const code = status['errorReasonCode'] || status['errReasonCode'];
  const text = toPlainText(status['errorReasonText'] || status['errReasonText']);
  const providerCode = toPlainText(code, 100);
  const failure = FAILURES.get(code) ?? {
    code: 'encode_failed',
    message: text ?? 'The video provider could not encode this video.',
    retryable: true,
  };
  return { failure, ...(providerCode !== undefined && { providerCode }) };
}

const FAILURES: ReadonlyMap<unknown, Failure> = new Map(
  Object.entries({
    ERR_NON_VIDEO: {
      code: 'not_media',
      message: 'The video provider found no video in the file.',
      retryable: false,
    },
    ERR_MALFORMED_VIDEO: {
      code: 'not_media',
      message: 'The video provider could not read the file.',
      retryable: false,
    },
    ERR_DURATION_TOO_SHORT: {
      code: 'too_short',
      message: 'The video is shorter than the video provider accepts.',
      retryable: false,
    },
    ERR_DURATION_EXCEED_CONSTRAINT: {
      code: 'too_long',
      message: 'The video is longer than the video provider accepts.',
      retryable: false,
    },
    ERR_FETCH_ORIGIN_ERROR: {
      code: 'fetch_failed',
      message: 'The video provider could not fetch the file.',
      retryable: true,
    },
  }),
);

const URL_REFUSED: Warning = {
  code: 'playback_url_refused',
  message: 'The provider reported a playback URL that is not a plain http or https URL.',
};
const UNCONFIGURED: Warning = {
  code: 'playback_unconfigured',
  message: 'The video is ready, but EDGEHOST_CUSTOMER_SUBDOMAIN is not set, so playback URLs are missing.',
};
