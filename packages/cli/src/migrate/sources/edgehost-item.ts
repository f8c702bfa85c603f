// Maps a video of edgehost (the API of Cloudflare Stream) to an item.
import { isMetadataTooLarge, MAX_SITES } from '../import-request.ts';
import { type ItemFacts, NO_FACTS, secondsToMs } from '../source.ts';

export type EdgehostVideo = {
  readonly uid: string;
  readonly creator?: string | null;
  readonly created: string;
  readonly status?: { readonly state?: string; readonly errorReasonText?: string };
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Seconds; -1 while unknown. */
  readonly duration?: number;
  readonly size?: number;
  readonly requireSignedURLs?: boolean;
  readonly allowedOrigins?: readonly string[];
  readonly scheduledDeletion?: string | null;
};

/** Members of `meta` that the source writes itself. */
const OWN_MEMBERS = new Set(['name', 'filename', 'filetype', 'relativePath', 'type', 'downloaded-from']);

export function toEdgehostItem(video: EdgehostVideo): ItemFacts {
  const { meta = {}, creator, allowedOrigins = [] } = video;
  const given = Object.entries(meta).filter(([name]) => !OWN_MEMBERS.has(name));
  const metadata = { ...Object.fromEntries(given), ...(creator && { creator }) };
  const sites = allowedOrigins.flatMap(toSite);
  // Without one of its sites, a restricted video would be open to all.
  const isUnmapped = allowedOrigins.length > 0 && sites.length === 0 && !allowedOrigins.includes('*');
  return {
    ...NO_FACTS,
    id: video.uid,
    title: typeof meta['name'] === 'string' ? meta['name'] : null,
    group: creator ?? null,
    createdAt: video.created,
    durationMs: secondsToMs(video.duration),
    sizeBytes: video.size ?? null,
    visibility: video.requireSignedURLs || isUnmapped ? 'private' : 'public',
    metadata,
    sites,
    expiresAt: video.scheduledDeletion ?? null,
    problem: findProblem(video),
    notes: [
      ...(isUnmapped ? [`The asset is private: its sites are ${allowedOrigins.join(', ')}.`] : []),
      ...(sites.length > MAX_SITES ? [`Only the first ${MAX_SITES} of its sites may play it.`] : []),
      ...(isMetadataTooLarge(metadata) ? ['The metadata is larger than 16 KiB and is left out.'] : []),
    ],
  };
}

function findProblem({ status }: EdgehostVideo): string | null {
  if (status?.state === 'ready') return null;
  if (status?.state === 'error') return `The video failed at the source: ${status.errorReasonText ?? ''}`;
  return status?.state?.startsWith('live')
    ? 'The video is a live stream that has not ended.'
    : `The video is not ready at the source: ${status?.state ?? 'unknown'}.`;
}

/** Origins may have a scheme, which sites do not have. */
function toSite(origin: string): string[] {
  const host = origin
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '')
    .toLowerCase();
  return /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d+)?$/.test(host) ? [host] : [];
}

export function toEdgehostFilename({ meta = {} }: EdgehostVideo): string {
  const name = [meta['filename'], meta['name']].find((text) => typeof text === 'string' && text !== '');
  return `${String(name ?? 'video').replace(/\.[a-z0-9]{2,4}$/i, '')}.mp4`;
}
