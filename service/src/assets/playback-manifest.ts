// The playback manifest of an asset: renditions or images in our store, or URLs of others (contract B5).
import { notFound, type ServiceError } from '../platform/errors.ts';

/** Our own: `folder` is `<attempt>-<try>` below the asset's renditions. `posterTimeMs`: the thumbnail shows the picture of this time; absent: the one that we chose. */
export type OwnManifest = {
  readonly kind: 'own';
  readonly attempt: number;
  readonly folder: string;
  readonly posterTimeMs?: number;
};
/** The URLs that an operator's encoder reported, byte for byte. */
export type UrlManifest = {
  readonly kind: 'urls';
  readonly attempt: number;
  readonly hls: string | null;
  readonly dash: string | null;
  readonly thumbnail: string | null;
};
/** A video of a hosted provider. The provider module computes the URLs that are not stored here, from its settings. */
export type HostedManifest = GivenUrls & {
  readonly kind: 'hosted';
  readonly attempt: number;
  readonly videoId: string;
  /** URLs of earlier releases, given or computed. They apply while the host setting is missing. */
  readonly earlier?: GivenUrls;
};
/** URLs that the provider gave. Null: refused; absent: not given. */
export type GivenUrls = {
  readonly hls?: string | null;
  readonly dash?: string | null;
  readonly thumbnail?: string | null;
};
/** An image in our store; the members decide the formats of its variants. */
export type ImageManifest = {
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

/** URLs as a report tells them: absent or null says nothing, `refused` was told and broke the rule. */
export type ReportedUrls = {
  readonly hls?: ReportedUrl;
  readonly dash?: ReportedUrl;
  readonly thumbnail?: ReportedUrl;
};
type ReportedUrl = string | null | { readonly refused: true };

/** What a `ready` report says of playback. */
export type ReportedPlayback =
  | { readonly kind: 'own'; readonly run: number; readonly posterTimeMs?: number }
  | { readonly kind: 'urls'; readonly urls: ReportedUrls }
  | { readonly kind: 'hosted'; readonly videoId: string; readonly urls: ReportedUrls }
  | Omit<ImageManifest, 'attempt'>;

const MAX_URL = 2048;
/** Spaces, control characters, halves of characters, and what parsers read as a slash. */
const UNSAFE = /[\s\p{Cc}\p{Cs}\\]/u;

/** Absolute http or https, no user info, no control characters or spaces, at most 2048 characters; never fetched by us. */
export function isPlaybackUrl(text: string): boolean {
  if (text.length > MAX_URL || !/^https?:\/\/[^/]/i.test(text) || UNSAFE.test(text)) return false;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    !hasUserInfo(text)
  );
}

/** Also `https://@host`, which the parser drops without a word. */
const hasUserInfo = (text: string) => /^https?:\/\/[^/?#]*@/i.test(text);

/** One member of a `playback` object from outside. */
export function parseReportedUrl(value: unknown): ReportedUrl {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' && isPlaybackUrl(value) ? value : { refused: true };
}

export const hasRefusedUrl = ({ hls, dash, thumbnail }: ReportedUrls): boolean =>
  [hls, dash, thumbnail].some((url) => typeof url === 'object' && url !== null);

/** What plays after a `ready` report of this attempt: the latest URL told of each kind; of our own runs the latest. */
export function toReadyManifest(
  known: Manifest | null,
  told: ReportedPlayback | undefined,
  attempt: number,
): Manifest | null {
  const same = known?.attempt === attempt ? known : null;
  if (!told) return same;
  if (told.kind === 'image') return { ...told, attempt };
  if (told.kind === 'own')
    return latestRun(
      same,
      withPoster({ kind: 'own', attempt, folder: `${attempt}-${told.run}` }, told.posterTimeMs ?? null),
    );
  if (told.kind === 'hosted')
    return toHostedManifest(
      same?.kind === 'hosted' && same.videoId === told.videoId ? same : null,
      told,
      attempt,
    );
  return same?.kind === 'urls'
    ? withUrls(same, told.urls, attempt)
    : (withUrls(null, told.urls, attempt) ?? same);
}

/** A run that is told again may have another poster by now. */
function latestRun(known: Manifest | null, told: OwnManifest): OwnManifest {
  return known?.kind === 'own' && runOf(known) >= runOf(told) ? known : told;
}

/** The same run with the picture of this time as its thumbnail; null: with the one that we chose. */
export const withPoster = ({ kind, attempt, folder }: OwnManifest, timeMs: number | null): OwnManifest => ({
  kind,
  attempt,
  folder,
  ...(timeMs !== null && { posterTimeMs: timeMs }),
});

const runOf = ({ folder }: OwnManifest) => Number(folder.slice(folder.indexOf('-') + 1));

function withUrls(known: UrlManifest | null, urls: ReportedUrls, attempt: number): UrlManifest | null {
  const pick = (told: ReportedUrl | undefined, before: string | null) =>
    typeof told === 'string' ? told : told ? null : before;
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
