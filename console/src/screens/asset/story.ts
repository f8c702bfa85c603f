// The timeline as a story: headings of its chapters, reasons, and what happens next.
import type { Asset, TimelineEntry } from '@mediary/client';
import { FAILURE_CODES } from '@mediary/contract/failures';

/** Entries without a heading belong to the chapter above them. */
const HEADINGS: Readonly<Partial<Record<TimelineEntry['type'], string>>> = {
  'asset.created': 'Created',
  'asset.uploaded': 'Bytes stored',
  'asset.processing': 'Processing',
  'asset.playable': 'Playable',
  'asset.delayed': 'Late',
  'asset.ready': 'Ready',
  'asset.failed': 'Failed',
  'asset.deleted': 'Deleted',
  'asset.restored': 'Restored',
  'asset.replaced': 'Replaced',
};

export function headingOf({ type, attempt }: TimelineEntry): string | undefined {
  const heading = HEADINGS[type];
  return type === 'asset.processing' && attempt !== null && attempt > 1
    ? `${heading}, attempt ${attempt}`
    : heading;
}

export function colorOf({ type }: TimelineEntry): string {
  if (type.endsWith('failed')) return 'red';
  if (type.endsWith('delayed')) return 'orange';
  if (type.endsWith('ready') || type.endsWith('playable')) return 'teal';
  return 'sea';
}

const REASONS: Readonly<Record<string, string>> = FAILURE_CODES;

/** What the code of a failure means. */
export const explain = ({ type, details }: TimelineEntry): string | undefined =>
  type === 'asset.failed' ? REASONS[String(details['code'])] : undefined;

/**
 * When the service asks about the work again; undefined while no check is known to come. A time in the past
 * says nothing: some checks move it without an entry.
 */
export function nextCheckOf(entries: readonly TimelineEntry[], now: number): string | undefined {
  const begin = entries.findLastIndex(({ type }) => type === 'asset.processing' || type === 'asset.failed');
  const times = entries.slice(Math.max(begin, 0)).map(({ details }) => details['next_check_at']);
  const at = times.findLast((time) => typeof time === 'string');
  return at !== undefined && Date.parse(at) > now ? at : undefined;
}

type Story = { readonly entries: readonly TimelineEntry[]; readonly now: number };

export function tellNext(asset: Asset, { entries, now }: Story): string {
  const { stream_status: status, deleted_at: deletedAt } = asset;
  if (deletedAt !== null) return 'It can be restored from the trash until its days there have passed.';
  if (status === 'pending_upload') return tellUpload(asset, entries);
  if (status === 'processing') return tellProcessing(asset);
  if (status === 'ready')
    return asset.version_of ? 'The asset that it replaces gets its file.' : 'Nothing is pending.';
  return tellFailed(asset, nextCheckOf(entries, now) !== undefined);
}

/** A hosted provider may report a failure and then recover. */
function tellFailed({ failure }: Asset, isAskedAgain: boolean): string {
  const begin = isAskedAgain ? 'The provider may still report it as ready.' : 'Nothing happens by itself.';
  return failure?.retryable
    ? `${begin} “Try again” starts another attempt.`
    : `${begin} Upload another file: this one would fail again.`;
}

function tellUpload({ clip_of: clipOf }: Asset, entries: readonly TimelineEntry[]): string {
  if (clipOf !== null) return 'The service cuts the clip from its video, then processes it by itself.';
  const isImport = entries.some(({ details }) => details['import_host'] !== undefined);
  return isImport
    ? 'The service downloads the file, then checks and processes it by itself.'
    : 'The service waits for the bytes. The upload fails with upload_expired if they do not come in time.';
}

function tellProcessing({ kind, progress, playable_at: playableAt }: Asset): string {
  if (kind === 'image') return 'The service checks the picture.';
  if (kind === 'audio') return `Encoding is at ${progress} %.`;
  return playableAt === null
    ? `Encoding is at ${progress} %. The video plays as soon as its first size is ready.`
    : `Encoding is at ${progress} %. The video plays already; larger sizes follow.`;
}
