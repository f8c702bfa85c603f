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

export type VideoSource = { readonly source: 'webhook' | 'inspect'; readonly uid: string };

/** The result of a finished encoding; undefined while it is running. */
export function endOf(
  video: JsonObject,
  status: JsonObject,
  { source, uid }: VideoSource,
): StreamReport | undefined {
  const told = { source, provider: 'edgehost' } as const;
  if (status['state'] === 'ready')
    return {
      ...told,
      event: 'succeeded',
      complete: isComplete(status),
      ...playbackIn(video, uid),
      picture: pictureOf(video),
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

function playbackIn(video: JsonObject, uid: string): Pick<StreamReport, 'playback' | 'warnings'> {
  const given = toJsonObject(video['playback']) ?? {};
  const urls = {
    hls: parseReportedUrl(given['hls']),
    dash: parseReportedUrl(given['dash']),
    thumbnail: parseReportedUrl(video['thumbnail']),
  };
  return {
    playback: { kind: 'hosted', videoId: uid, urls },
    warnings: hasRefusedUrl(urls) ? [REFUSED] : [],
  };
}

/** The URLs that edgehost gave, completed by computed ones. */
export function edgehostPlayback(
  { videoId, earlier, ...given }: HostedManifest,
  host: string | undefined,
): HostedPlayback {
  const known: GivenUrls = { ...(host === undefined ? earlier : computedUrls(host, videoId)), ...given };
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

const pictureOf = (video: JsonObject) => ({
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
  message: 'The video is ready, but EDGEHOST_CUSTOMER_SUBDOMAIN is not set, so playback URLs are missing.',
};
