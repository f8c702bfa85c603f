// Parses edgehost videos from webhooks and from the API (contract A6, B5, B6).
import type { Failure, Warning } from '../../assets/asset.ts';
import { toPlainText } from '../../assets/text-limits.ts';
import { hasRefusedUrl, type ReportedUrls, parseReportedUrl } from '../../assets/playback-manifest.ts';
import type { StreamReport } from '../../lifecycle/stream-report.ts';
import {
  parseDuration,
  type JsonObject,
  parseObject,
  parsePercent,
  parseSize,
  unreadableResponse,
} from '../response-parsers.ts';
import { originOf } from '../hosted-settings.ts';
import { toJsonObject } from '../verify-webhook.ts';
import type { Inspection } from '../provider.ts';

/** `customerHost`: the host that delivers the account's videos. */
type VideoSource = {
  readonly source: 'webhook' | 'inspect';
  readonly uid: string;
  readonly customerHost: string | undefined;
};

/** The result of a finished encoding; undefined while it is running. */
export function endOf(
  video: JsonObject,
  status: JsonObject,
  { source, uid, customerHost }: VideoSource,
): StreamReport | undefined {
  const told = { source, provider: 'edgehost' } as const;
  if (status['state'] === 'ready')
    return {
      ...told,
      event: 'succeeded',
      complete: isComplete(status),
      ...playbackOf(video, uid, customerHost),
      media: mediaOf(video),
    };
  if (status['state'] === 'error') return { ...told, event: 'failed', ...failureOf(status) };
  return undefined;
}

export function inspectionOf(video: JsonObject, from: VideoSource): Inspection {
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
  return { state: 'known', report: endOf(video, status, from) ?? started };
}

/** Lower renditions may be playable before the higher ones are finished. `pctComplete` is text. */
const isComplete = ({ pctComplete: told }: JsonObject): boolean =>
  typeof told !== 'string' || !(Number.parseFloat(told) < 100);

function playbackOf(
  video: JsonObject,
  uid: string,
  host: string | undefined,
): Pick<StreamReport, 'playback' | 'warnings'> {
  const given = toJsonObject(video['playback']) ?? {};
  const base = host && `${originOf(host)}/${encodeURIComponent(uid)}`;
  const place = (told: unknown, path: string) => parseReportedUrl(told) ?? (base ? `${base}${path}` : null);
  const urls: ReportedUrls = {
    hls: place(given['hls'], '/manifest/video.m3u8'),
    dash: place(given['dash'], '/manifest/video.mpd'),
    thumbnail: place(video['thumbnail'], '/thumbnails/thumbnail.jpg'),
  };
  const isAnyUnknown = Object.values(urls).includes(null);
  const warnings = [...(hasRefusedUrl(urls) ? [REFUSED] : []), ...(isAnyUnknown ? [UNCONFIGURED] : [])];
  return { playback: { kind: 'urls', urls }, warnings };
}

const mediaOf = (video: JsonObject) => ({
  ...parseSize(toJsonObject(video['input']) ?? {}),
  ...parseDuration(video['duration']),
});

/** Maps error codes of the product to ours; its documentation spells the keys in two ways. */
function failureOf(status: JsonObject): Pick<StreamReport, 'failure' | 'providerCode'> {
  const code = status['errorReasonCode'] || status['errReasonCode'];
  const words = toPlainText(status['errorReasonText'] || status['errReasonText']);
  const providerCode = toPlainText(code, 100);
  const failure = FAILURES.get(code) ?? {
    code: 'encode_failed',
    message: words ?? 'The video host could not encode this video',
    retryable: true,
  };
  return { failure, ...(providerCode !== undefined && { providerCode }) };
}

const FAILURES: ReadonlyMap<unknown, Failure> = new Map(
  Object.entries({
    ERR_NON_VIDEO: {
      code: 'not_media',
      message: 'The video host found no video in the file',
      retryable: false,
    },
    ERR_MALFORMED_VIDEO: {
      code: 'not_media',
      message: 'The video host could not read the file',
      retryable: false,
    },
    ERR_DURATION_TOO_SHORT: {
      code: 'too_short',
      message: 'The video is too short for the video host',
      retryable: false,
    },
    ERR_DURATION_EXCEED_CONSTRAINT: {
      code: 'too_long',
      message: 'The video is longer than the video host takes',
      retryable: false,
    },
    ERR_FETCH_ORIGIN_ERROR: {
      code: 'fetch_failed',
      message: 'The video host could not fetch the file',
      retryable: true,
    },
  }),
);

const REFUSED: Warning = {
  code: 'playback_url_refused',
  message: 'The provider gave a playback URL that is no plain http or https address',
};
const UNCONFIGURED: Warning = {
  code: 'playback_unconfigured',
  message:
    'EDGEHOST_CUSTOMER_SUBDOMAIN is not set: the video is ready, but not all of its addresses are known',
};
