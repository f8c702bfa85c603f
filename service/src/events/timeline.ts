// The timeline of an asset: its events with source, time, latency and an English sentence (contract B2, B8).
import type { EventSource, EventType } from '@mediary/contract/enums';
import type { ClipSource } from '@mediary/contract/schemas/assets/clip-source';
import { badRequest } from '../platform/http/errors.ts';
import type { EventsContext } from './context.ts';
import { listEvents } from './timeline.sql.ts';

type EventRow = Awaited<ReturnType<typeof listEvents>>[number];

type TimelineEntry = {
  readonly id: string;
  readonly at: string;
  readonly type: EventType;
  readonly source: EventSource;
  readonly attempt: number | null;
  /** Since the previous entry; null for the first. */
  readonly latency_ms: number | null;
  readonly sentence: string;
  readonly details: Readonly<Record<string, unknown>>;
};

type TimelinePage = {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly isOwner: boolean;
};

/**
 * `after`: id of the last entry of the previous page. Throws BAD_REQUEST if the asset has no such entry.
 * `isOwner`: for the owner, who must not see the names of service keys.
 */
export async function listTimeline(
  { db }: EventsContext,
  assetId: string,
  { after, limit, isOwner }: TimelinePage,
): Promise<{ items: TimelineEntry[]; next: string | null }> {
  // Reads the entry `after` too: the latency of the next entry counts from it.
  const rows = await listEvents(db, assetId, { from: after, limit: limit + 2 });
  if (after !== undefined && rows.length === 0)
    throw badRequest('Invalid cursor', { field: 'cursor', reason: 'invalid_cursor' });
  const entries = toTimeline(isOwner ? rows.map(withoutKeyName) : rows).slice(after === undefined ? 0 : 1);
  const items = entries.slice(0, limit);
  return { items, next: entries.length > limit ? (items.at(-1)?.id ?? null) : null };
}

type Data = Readonly<Record<string, unknown>>;

/** Oldest first. */
const toTimeline = (rows: readonly EventRow[]): TimelineEntry[] =>
  rows.map((row, index) => toEntry(row, rows[index - 1]));

function toEntry({ id, type, data, created_at }: EventRow, previous: EventRow | undefined): TimelineEntry {
  const { source = 'caller', attempt = null, ...details } = data as Data;
  return {
    id,
    at: created_at.toISOString(),
    type: type as EventType,
    source: source as EventSource,
    attempt: attempt as number | null,
    latency_ms: previous ? Math.max(0, created_at.getTime() - previous.created_at.getTime()) : null,
    sentence: renderSentence(type, data as Data),
    details: hideNamedOwner(details),
  };
}

function withoutKeyName<Row extends Pick<EventRow, 'data'>>(row: Row): Row {
  const { key_name: _, ...data } = row.data as Data;
  return { ...row, data };
}

/** The owner must not see another user's id; the stored event keeps it for operators. */
const hideNamedOwner = ({ named_owner: named, ...details }: Data): Data =>
  named === undefined ? details : { ...details, named_other_owner: true };

/** Source → subject of the sentence. */
const SUBJECTS: Readonly<Record<string, string>> = {
  caller: 'The caller',
  webhook: 'The provider',
  inspect: "The provider's API",
  replay: 'A delivery replayed by an operator',
  service: 'The service',
  reconcile: 'The reconcile job',
  operator: 'An operator',
} satisfies Record<EventSource, string>;

function renderSentence(type: string, data: Data): string {
  const subject = SUBJECTS[String(data['source'] ?? 'caller')] ?? 'The service';
  const sentence = SENTENCES[type as EventType]?.(subject, data) ?? `${subject} recorded ${type}.`;
  return [sentence, ...additions(data)].join(' ');
}

function additions({ provider_code: code, next_check_at: at, named_owner: named }: Data): string[] {
  return [
    ...(code === undefined ? [] : [`Provider code: ${String(code)}.`]),
    ...(typeof at === 'string' ? [`Next check at ${at}.`] : []),
    ...(named === undefined ? [] : ['The caller used the service key and named another owner.']),
  ];
}

const inAttempt = ({ attempt }: Data): string => (Number(attempt) > 1 ? ` (attempt ${Number(attempt)})` : '');

const RESTORED = 'The caller restored the asset from the trash.';

/** An import with steps counts each byte twice: when it arrives, and when the video provider has it. */
function renderImported({ bytes, total_bytes: total, step }: Data): string {
  const size = typeof total !== 'number' ? undefined : step === undefined ? total : total / 2;
  if (step === 'transfer' && size !== undefined)
    return `The service sent ${Number(bytes) - size} of ${size} bytes to the video provider.`;
  return `The service imported ${Number(bytes)}${size === undefined ? '' : ` of ${size}`} bytes.`;
}

const renderKey = ({ key_name: name }: Data): string =>
  name === undefined ? '' : ` with the service key "${String(name)}"`;

const renderTakeover = ({ replacement_id: id, restorable_until: until }: Data): string => {
  const end = until === undefined ? '.' : `, which can come back until ${String(until)}.`;
  return `The file of the replacement ${String(id)} took the place of the old one${end}`;
};

const renderClip = ({ id, start_ms: start, end_ms: end }: ClipSource): string =>
  `the service cuts it from ${start} to ${end} ms of the video ${id}.`;

const SENTENCES: Readonly<Record<EventType, (subject: string, data: Data) => string>> = {
  'asset.created': (subject, { import_host: host, adopted, clip_of: clipOf, version_of: replaced }) => {
    if (replaced !== undefined)
      return `${subject} created the replacement of the file of ${String(replaced)}.`;
    if (clipOf !== undefined) return `${subject} created the asset; ${renderClip(clipOf as ClipSource)}`;
    if (adopted) return `${subject} created the asset; the service adopts a file of the operator.`;
    return host === undefined
      ? `${subject} created the asset.`
      : `${subject} created the asset; the service imports its file from ${String(host)}.`;
  },
  'asset.uploaded': () => 'All bytes are stored.',
  'asset.processing': (subject, data) => {
    if (data['imported'])
      return `${subject} imported the asset from an archive; processing started${inAttempt(data)}.`;
    if (data['source'] === 'operator') return `A storage check started processing again${inAttempt(data)}.`;
    if ((data['source'] ?? 'caller') !== 'caller')
      return `${subject} reported that processing started${inAttempt(data)}.`;
    return Number(data['attempt']) > 1
      ? `${subject} retried the asset; processing started again${inAttempt(data)}.`
      : `${subject} completed the upload; processing started.`;
  },
  'asset.playable': () => 'Playback is available.',
  'asset.progress': (_subject, data) =>
    typeof data['bytes'] === 'number'
      ? renderImported(data)
      : `Encoding reached ${Number(data['progress'] ?? 0)} %.`,
  'asset.delayed': (_subject, data) => `The asset is late. ${String(data['message'] ?? '')}`.trim(),
  'asset.ready': (subject, data) => `${subject} reported that the asset is ready${inAttempt(data)}.`,
  'asset.failed': (subject, data) => {
    const code = String(data['code'] ?? 'no reason given');
    if (code === 'cancelled' && data['source'] === 'operator')
      return `${subject} cancelled the ${String(data['work'] ?? 'encoding')}${inAttempt(data)}.`;
    if (code === 'original_missing' && data['source'] === 'operator')
      return `A storage check found that the stored original is missing; the asset failed${inAttempt(data)}.`;
    const isRejected = data['source'] === 'service' && !code.startsWith('encoder_');
    const verb = isRejected ? 'rejected the asset' : 'reported a failure';
    return `${subject} ${verb}${inAttempt(data)}: ${code}.`;
  },
  'asset.updated': (subject, data) => {
    if (data['upload_reopened'])
      return `${subject} retried the asset; a new upload is open${inAttempt(data)}.`;
    if (data['restored']) return RESTORED;
    const hold = HOLDS[String(data['reason'])];
    if (hold) return `${subject} ${hold}${renderKey(data)}.`;
    const extras = data['extras'] as string[] | undefined;
    if (extras?.length === 0) return 'No further files are available.';
    if (extras) return `Further files are available: ${extras.join(', ')}.`;
    return `${subject} changed ${(data['fields'] as string[] | undefined)?.join(', ') || 'no fields'}.`;
  },
  'asset.restored': () => RESTORED,
  'asset.replaced': (subject, data) =>
    data['reason'] === 'rolled_back' ? `${subject} brought the previous file back.` : renderTakeover(data),
  'asset.deleted': (subject, data) =>
    data['restorable']
      ? `${subject} ${data['imported'] ? 'imported the asset into' : 'moved the asset to'} the trash.`
      : `${subject} deleted the asset permanently${DELETIONS[String(data['reason'])] ?? ''}.`,
  'asset.checked': (subject, data) =>
    CHECKS[String(data['reason'])] ??
    `${subject} found a problem: ${String(data['code'] ?? data['reason'])}.`,
};

const HOLDS: Readonly<Record<string, string>> = {
  legal_hold_set: 'set a legal hold',
  legal_hold_released: 'released the legal hold',
};

const DELETIONS: Readonly<Record<string, string>> = {
  expired: ': its expires_at has passed',
  trash_days: ': its time in the trash has passed',
  took_over: ': the asset that it replaces has its file',
  replaced_again: ': another replacement took its place',
  replaced_asset_deleted: ': the asset that it should replace is gone',
};

/** Reason that the reconcile job recorded → sentence. */
const CHECKS: Readonly<Record<string, string>> = {
  not_due: "Processing is in progress; the deadline follows from the provider's recent speed.",
  job_under_way: 'Processing takes longer than expected; its job is waiting or running.',
  job_lost: 'The job was lost, or an outage outlasted its retries; the service started it again.',
  encoder_outside:
    'Processing takes longer than expected; ' +
    'an external encoder has the video, and the service waits for its report.',
  encoder_accepted: 'The external encoder accepted the video.',
  encoder_unreachable: 'The external encoder could not be reached; the service tries again.',
  encoder_silent: 'The external encoder stopped reporting on the video; the service asks it again.',
  scratch_disk_full:
    'The work waits: the disk of the worker has too little space for it. It is tried again every 30 s.',
  nothing_waited_for: 'Nothing is pending.',
  not_configured:
    "Work on the provider's video waits: no running worker has the settings of the provider's API.",
  not_answered: "The provider's API did not report the state of the video.",
  no_bytes_yet: 'The provider has not received the bytes yet.',
  repaired: 'A report was lost; the reconcile job asked the provider and updated the asset.',
  still_processing: 'The provider confirms that it is still processing the video.',
  still_failed: 'The provider confirms the failure.',
  facts_unknown: "The video plays; the provider's API did not report its duration and size.",
  facts_given_up:
    "The video plays; the provider's API did not report duration and size within a day; " +
    'the service stopped asking.',
  still_ready: 'The provider confirms that the video is ready.',
};
