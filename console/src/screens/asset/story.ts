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

/** When the service asks about the work again; undefined while no check is planned. */
export function nextCheckOf(entries: readonly TimelineEntry[]): string | undefined {
  const at = entries.findLast(({ details }) => typeof details['next_check_at'] === 'string');
  return at && String(at.details['next_check_at']);
}

export function tellNext(asset: Asset, entries: readonly TimelineEntry[]): string {
  const { stream_status: status, deleted_at: deletedAt, failure } = asset;
  if (deletedAt !== null) return 'It can be restored from the trash until its days there have passed.';
  if (status === 'pending_upload') return tellUpload(asset, entries);
  if (status === 'processing') return tellProcessing(asset);
  if (status === 'ready')
    return asset.version_of ? 'The asset that it replaces gets its file.' : 'Nothing is pending.';
  return failure?.retryable
    ? 'Nothing happens by itself. “Try again” starts another attempt.'
    : 'Nothing happens by itself. Upload another file: this one would fail again.';
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
