// The report of an encoder: body, delivery and parser of the onprem webhook (contract A1, B6).
import type { Chapter } from '@mediary/contract/schemas/assets/chapters';
import type { Failure, Warning } from '../assets/asset.ts';
import { toPlainText } from '../assets/text-limits.ts';
import {
  hasRefusedUrl,
  type ReportedPlayback,
  type ReportedUrls,
  parseReportedUrl,
} from '../assets/playback-manifest.ts';
import { OnpremReport } from '@mediary/contract/operations/webhooks';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Rendition } from '../assets/renditions.ts';
import type { AudioFacts, StreamReport, VideoFacts } from '../lifecycle/decisions/stream-report.ts';
import { parseReportedMedia } from './reported-media.ts';

/** The report of our own encoder. `run` is the one whose files are in the store. */
export type EncoderReport = {
  readonly asset_id: string;
  readonly status: 'processing' | 'ready' | 'failed';
  readonly attempt: number;
  readonly run: number;
  readonly progress?: number;
  /** The first segments of this run are published; others follow. */
  readonly playable?: true;
  readonly renditions?: readonly Rendition[];
  readonly width?: number;
  readonly height?: number;
  readonly duration_ms?: number;
  readonly container?: string;
  readonly video?: VideoFacts;
  readonly audio?: readonly AudioFacts[];
  /** Those of the file. */
  readonly chapters?: readonly Chapter[];
  /** ThumbHash of the default thumbnail in Base64. */
  readonly placeholder?: string;
  /** Time of the stored poster, if one was requested. */
  readonly poster_time_ms?: number;
  /** The service makes no extras of the run. */
  readonly has_extras?: false;
  readonly warnings?: readonly Warning[];
  readonly failure?: Failure;
};

/** `processed`: whether the report changed the asset. */
export type CallbackResult = { readonly processed: boolean };

export type Callback = {
  /** Delivers a signed body unchanged. Throws when the report was not accepted and must be retried. */
  deliver(body: string, signal: AbortSignal): Promise<CallbackResult>;
};

type Members = Readonly<Record<string, unknown>>;

/** Malformed ones of these members make a report ignored; others are skipped one by one. */
const PublishedMembers = Type.Pick(OnpremReport, ['status', 'attempt', 'progress', 'renditions', 'playback']);
type Published = Static<typeof PublishedMembers>;
const PUBLISHED = Compile(PublishedMembers);

const EVENTS: Readonly<Record<Published['status'], StreamReport['event']>> = {
  processing: 'started',
  ready: 'succeeded',
  failed: 'failed',
};
const MAX_INT = 2 ** 31 - 1;
const MAX_WARNINGS = 16;

/** Undefined when the body is malformed or requires no action. `isOwn`: signed by our own encoder. */
export function parseEncoderReport(body: Members, isOwn: boolean): StreamReport | undefined {
  const published: unknown = body;
  if (!PUBLISHED.Check(published)) return undefined;
  const { status, attempt, progress, renditions, playback } = published;
  if (isOwn && !(attempt && isCount(body['run']))) return undefined;
  const event = EVENTS[status];
  return {
    source: 'webhook',
    provider: 'onprem',
    event,
    ...(attempt && { attempt }),
    ...(typeof progress === 'number' && { progress: Math.floor(Math.min(100, Math.max(0, progress))) }),
    // `mergeRenditions` drops unknown codecs and ranges.
    ...(renditions && { renditions: renditions as readonly Rendition[] }),
    ...(event === 'started' &&
      isOwn &&
      body['playable'] === true && {
        playback: { kind: 'own', run: body['run'] as number, growing: true },
        media: { ...parseMedia(body), ...parseReportedMedia(body) },
      }),
    ...(event === 'succeeded' && {
      ...(isOwn ? { ...parseOwnPlayback(body), ...parseWarnings(body) } : parseThirdPartyPlayback(playback)),
      media: { ...parseMedia(body), ...(isOwn && parseReportedMedia(body)) },
    }),
    ...(event === 'failed' && parseFailure(body)),
  };
}

function parseOwnPlayback({ run, poster_time_ms: posterTimeMs, has_extras: hasExtras }: Members): {
  playback: ReportedPlayback;
} {
  return {
    playback: {
      kind: 'own',
      run: run as number,
      ...((posterTimeMs === 0 || isCount(posterTimeMs)) && { posterTimeMs }),
      ...(hasExtras === false && { extras: [] }),
    },
  };
}

function parseThirdPartyPlayback(playback: Published['playback']): {
  playback?: ReportedPlayback;
  warnings?: Warning[];
} {
  if (!playback) return {};
  const { hls, dash, thumbnail } = playback;
  const urls: ReportedUrls = {
    hls: parseReportedUrl(hls),
    dash: parseReportedUrl(dash),
    thumbnail: parseReportedUrl(thumbnail),
  };
  return { playback: { kind: 'urls', urls }, ...(hasRefusedUrl(urls) && { warnings: [URL_REFUSED] }) };
}

/** Skips malformed entries: a warning must not prevent a video from becoming ready. */
function parseWarnings({ warnings }: Members): { warnings?: Warning[] } {
  if (!Array.isArray(warnings)) return {};
  const valid = warnings.slice(0, MAX_WARNINGS).flatMap((warning: unknown) => {
    const { code, message } = isMembers(warning) ? warning : {};
    const text = toPlainText(message);
    return isCode(code) && text !== undefined ? [{ code, message: text }] : [];
  });
  return valid.length > 0 ? { warnings: valid } : {};
}

const URL_REFUSED: Warning = {
  code: 'playback_url_refused',
  message: 'The encoder gave a playback URL that is no plain http or https address',
};

function parseMedia({ width, height, duration_ms: durationMs }: Members): NonNullable<StreamReport['media']> {
  return {
    ...(isCount(width) && { width }),
    ...(isCount(height) && { height }),
    ...(isCount(durationMs) && { durationMs }),
  };
}

/** `failure` {`code`, `message`, `retryable`}; each member is optional. */
function parseFailure({ failure }: Members): { failure?: Failure } {
  if (typeof failure !== 'object' || failure === null) return {};
  const { code, message, retryable } = failure as Members;
  return {
    failure: {
      code: isCode(code) ? code : 'encode_failed',
      message: toPlainText(message) ?? 'The video could not be encoded',
      retryable: retryable !== false,
    },
  };
}

const isCode = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(value);
const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_INT;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
