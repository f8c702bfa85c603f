// The playback manifest of an asset: renditions or images in our store, or URLs of others (contract B5).
import { notFound, type ServiceError } from '../platform/http/errors.ts';
import type { VideoExtra } from './video-extras.ts';

/**
 * Our renditions, in `<attempt>-<run>` below the asset's renditions. `posterTimeMs`: the frame that the
 * caller chose for the thumbnail. `extras`: the further files that exist; absent until that is decided.
 */
export type OwnManifest = {
  readonly kind: 'own';
  readonly attempt: number;
  readonly folder: string;
  readonly posterTimeMs?: number;
  /** The run has not ended: segments follow, and the manifests are not in the store yet. */
  readonly growing?: true;
  readonly extras?: readonly VideoExtra[];
};
/** The URLs that an operator's encoder reported, byte for byte. */
type UrlManifest = {
  readonly kind: 'urls';
  readonly attempt: number;
  readonly hls: string | null;
  readonly dash: string | null;
  readonly thumbnail: string | null;
};
/**
 * A video of a hosted provider. The provider module computes the URLs that are not stored here, from its
 * settings.
 */
export type HostedManifest = GivenUrls & {
  readonly kind: 'hosted';
  readonly attempt: number;
  readonly videoId: string;
};
/** URLs that the provider gave. Null: refused; absent: not given. */
export type GivenUrls = {
  readonly hls?: string | null;
  readonly dash?: string | null;
  readonly thumbnail?: string | null;
};
/** An image in our store; the members decide the formats of its variants. */
type ImageManifest = {
  readonly kind: 'image';
  readonly attempt: number;
  readonly animated: boolean;
  readonly alpha: boolean;
};
export type Manifest = OwnManifest | UrlManifest | HostedManifest | ImageManifest;

export type PlayUrls = {
  readonly hls: string | null;
  readonly dash: string | null;
  readonly thumbnail: string | null;
};

/** URLs of a report. Absent or null: not reported; `refused`: not a valid playback URL. */
export type ReportedUrls = {
  readonly hls?: ReportedUrl;
  readonly dash?: ReportedUrl;
  readonly thumbnail?: ReportedUrl;
};
type ReportedUrl = string | null | { readonly refused: true };

/** Playback in a `ready` report. */
export type ReportedPlayback =
  | OwnReport
  | { readonly kind: 'urls'; readonly urls: ReportedUrls }
  | { readonly kind: 'hosted'; readonly videoId: string; readonly urls: ReportedUrls }
  | Omit<ImageManifest, 'attempt'>;

type OwnReport = {
  readonly kind: 'own';
  readonly run: number;
  readonly posterTimeMs?: number;
  /** Set if none will be made. */
  readonly extras?: readonly [];
  /** Set while the run has not ended. */
  readonly growing?: true;
};

const MAX_URL_LENGTH = 2048;
/** Spaces, control characters, lone surrogates, and backslashes, which parsers read as slashes. */
const UNSAFE = /[\s\p{Cc}\p{Cs}\\]/u;

/** The URL parser also accepts `;` and quotes, which would add directives to the policy of embed pages. */
const PLAIN_HOST = /^[a-z0-9.:[\]-]+$/;

/**
 * Absolute http or https, a plain host, no user info, no control characters or spaces, at most 2048
 * characters; never fetched by us.
 */
export function isPlaybackUrl(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || !/^https?:\/\/[^/]/i.test(text) || UNSAFE.test(text)) return false;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    PLAIN_HOST.test(url.host) &&
    url.username === '' &&
    url.password === '' &&
    !hasUserInfo(text)
  );
}

/** Also `https://@host`, which the URL parser accepts and drops. */
const hasUserInfo = (text: string) => /^https?:\/\/[^/?#]*@/i.test(text);

/** Parses a member of a reported `playback` object. */
export function parseReportedUrl(value: unknown): ReportedUrl {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' && isPlaybackUrl(value) ? value : { refused: true };
}

export const hasRefusedUrl = ({ hls, dash, thumbnail }: ReportedUrls): boolean =>
  [hls, dash, thumbnail].some((url) => typeof url === 'object' && url !== null);

/** The manifest after a `ready` report of this attempt: the latest URL of each kind, or our latest run. */
export function toReadyManifest(
  known: Manifest | null,
  report: ReportedPlayback | undefined,
  attempt: number,
): Manifest | null {
  const same = known?.attempt === attempt ? known : null;
  if (!report) return same;
  if (report.kind === 'image') return { ...report, attempt };
  if (report.kind === 'own') {
    const { run, extras, posterTimeMs = null } = report;
    const own = { kind: 'own', attempt, folder: `${attempt}-${run}`, ...(extras && { extras }) } as const;
    return latestRun(same, withPoster(own, posterTimeMs));
  }
  if (report.kind === 'hosted')
    return toHostedManifest(
      same?.kind === 'hosted' && same.videoId === report.videoId ? same : null,
      report,
      attempt,
    );
  return same?.kind === 'urls'
    ? withUrls(same, report.urls, attempt)
    : (withUrls(null, report.urls, attempt) ?? same);
}

/** The poster may have changed since the first report of a run. */
function latestRun(known: Manifest | null, report: OwnManifest): OwnManifest {
  return known?.kind === 'own' && !known.growing && runOf(known) >= runOf(report) ? known : report;
}

/** The manifest after the first segments of a run: that of an ended run stays, whatever its attempt. */
export function toGrowingManifest(known: Manifest | null, run: number, attempt: number): Manifest {
  if (known && !isGrowing(known)) return known;
  const growing: OwnManifest = { kind: 'own', attempt, folder: `${attempt}-${run}`, growing: true };
  return known?.attempt === attempt && runOf(known) >= runOf(growing) ? known : growing;
}

export const isGrowing = (manifest: Manifest | null): manifest is OwnManifest =>
  manifest?.kind === 'own' && manifest.growing === true;

/** Null: the thumbnail that the encoder chose. */
export const withPoster = (
  { kind, attempt, folder, extras }: OwnManifest,
  timeMs: number | null,
): OwnManifest => ({
  kind,
  attempt,
  folder,
  ...(timeMs !== null && { posterTimeMs: timeMs }),
  ...(extras && { extras }),
});

const runOf = ({ folder }: OwnManifest) => Number(folder.slice(folder.indexOf('-') + 1));

function withUrls(known: UrlManifest | null, urls: ReportedUrls, attempt: number): UrlManifest | null {
  const pick = (report: ReportedUrl | undefined, before: string | null) =>
    typeof report === 'string' ? report : report ? null : before;
  const hls = pick(urls.hls, known?.hls ?? null);
  const dash = pick(urls.dash, known?.dash ?? null);
  const thumbnail = pick(urls.thumbnail, known?.thumbnail ?? null);
  return hls || dash || thumbnail ? { kind: 'urls', attempt, hls, dash, thumbnail } : null;
}

type HostedReport = Extract<ReportedPlayback, { kind: 'hosted' }>;

const toHostedManifest = (
  known: HostedManifest | null,
  { videoId, urls: { hls, dash, thumbnail } }: HostedReport,
  attempt: number,
): HostedManifest => ({
  ...known,
  kind: 'hosted',
  attempt,
  videoId,
  ...(hls && { hls: toGivenUrl(hls) }),
  ...(dash && { dash: toGivenUrl(dash) }),
  ...(thumbnail && { thumbnail: toGivenUrl(thumbnail) }),
});

const toGivenUrl = (url: NonNullable<ReportedUrl>): string | null => (typeof url === 'string' ? url : null);

/** The same message for every playback path, so that it does not reveal the reason. */
export const playbackNotFound = (): ServiceError =>
  notFound('Not found. Private assets play through the URLs of GET /api/v1/media/{id}/playback.');
