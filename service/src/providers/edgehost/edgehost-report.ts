// Reads what edgehost says of a video: the video object itself is the message (contract A6, B5, B6).
import type { Failure, Warning } from '../../assets/asset.ts';
import { anyRefused, type ToldUrls, toldUrl } from '../../assets/playback-manifest.ts';
import { plainWords } from '../../assets/own-text.ts';
import type { StreamReport } from '../../assets/stream-report.ts';
import { parseJson } from '../../platform/strict-json.ts';
import { isVideoId, membersOf, NOT_ACTIONABLE } from '../opening.ts';
import type { Reading } from '../provider.ts';

type Members = Readonly<Record<string, unknown>>;

/** `customerHost` is the whole host name that serves this account's videos. */
export function readEdgehost(body: Uint8Array, customerHost: string | undefined): Reading {
  const video = membersOf(parseJson(body));
  const status = membersOf(video?.['status']);
  const uid = video?.['uid'];
  if (!video || !status || !isVideoId(uid)) return NOT_ACTIONABLE;
  const ref = { provider: 'edgehost', providerVideoId: uid } as const;
  const told = { source: 'webhook', provider: 'edgehost' } as const;
  if (status['state'] === 'ready') return { ref, report: { ...told, event: 'succeeded', complete: isComplete(status), ...playbackOf(video, uid, customerHost), ...pictureOf(video) } };
  if (status['state'] === 'error') return { ref, report: { ...told, event: 'failed', failure: failureOf(status) } };
  return NOT_ACTIONABLE;
}

/** Lower renditions may play while higher ones are still being made. `pctComplete` is text. */
const isComplete = ({ pctComplete: told }: Members): boolean => typeof told !== 'string' || !(Number.parseFloat(told) < 100);

function playbackOf(video: Members, uid: string, host: string | undefined): Pick<StreamReport, 'playback' | 'warnings'> {
  const given = membersOf(video['playback']) ?? {};
  const base = host && `https://${host}/${encodeURIComponent(uid)}`;
  const place = (told: unknown, path: string) => toldUrl(told) ?? (base ? `${base}${path}` : null);
  const urls: ToldUrls = {
    hls: place(given['hls'], '/manifest/video.m3u8'), dash: place(given['dash'], '/manifest/video.mpd'),
    thumbnail: place(video['thumbnail'], '/thumbnails/thumbnail.jpg'),
  };
  const isAnyUnknown = Object.values(urls).includes(null);
  const warnings = [...(anyRefused(urls) ? [REFUSED] : []), ...(isAnyUnknown ? [UNCONFIGURED] : [])];
  return { playback: { kind: 'urls', urls }, warnings };
}

function pictureOf(video: Members): Pick<StreamReport, 'picture'> {
  const { width, height } = membersOf(video['input']) ?? {};
  const duration = video['duration'];
  const picture = {
    ...(isSize(width) && { width }), ...(isSize(height) && { height }),
    ...(typeof duration === 'number' && duration > 0 && duration < 1e6 && { durationMs: Math.round(duration * 1000) }),
  };
  return { picture };
}

const isSize = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0 && Number(value) < 100_000;

/** The product's own codes in our words; the documentation spells the keys in two ways. */
function failureOf(status: Members): Failure {
  const known = FAILURES.get(status['errorReasonCode'] || status['errReasonCode']);
  if (known) return known;
  const words = plainWords(status['errorReasonText'] || status['errReasonText']);
  return { code: 'encode_failed', message: words ?? 'The video host could not encode this video', retryable: true };
}

const FAILURES: ReadonlyMap<unknown, Failure> = new Map(Object.entries({
  ERR_NON_VIDEO: { code: 'not_media', message: 'The video host found no video in the file', retryable: false },
  ERR_MALFORMED_VIDEO: { code: 'not_media', message: 'The video host could not read the file', retryable: false },
  ERR_DURATION_TOO_SHORT: { code: 'too_short', message: 'The video is too short for the video host', retryable: false },
  ERR_DURATION_EXCEED_CONSTRAINT: { code: 'too_long', message: 'The video is longer than the video host takes', retryable: false },
  ERR_FETCH_ORIGIN_ERROR: { code: 'fetch_failed', message: 'The video host could not fetch the file', retryable: true },
}));

const REFUSED: Warning = { code: 'playback_url_refused', message: 'The provider gave a playback URL that is no plain http or https address' };
const UNCONFIGURED: Warning = { code: 'playback_unconfigured', message: 'EDGEHOST_CUSTOMER_SUBDOMAIN is not set: the video is ready, but not all of its addresses are known' };
