// What happened to an asset, told to its owner: who said it, when, how long after what came before, and a sentence in plain language (contract B2, B8).
import type { EventSource, EventType } from '@mediary/contract/enums';

export type EventRow = {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly created_at: Date;
};

export type TimelineEntry = {
  readonly id: string;
  readonly at: string;
  readonly type: EventType;
  readonly source: EventSource;
  readonly attempt: number | null;
  /** Since the entry before; null for the first. */
  readonly latency_ms: number | null;
  readonly sentence: string;
  readonly details: Readonly<Record<string, unknown>>;
};

type Data = Readonly<Record<string, unknown>>;

/** Oldest first. */
export const toTimeline = (rows: readonly EventRow[]): TimelineEntry[] =>
  rows.map((row, index) => entryOf(row, rows[index - 1]));

function entryOf({ id, type, data, created_at }: EventRow, before: EventRow | undefined): TimelineEntry {
  const { source = 'caller', attempt = null, ...details } = data as Data;
  return {
    id,
    at: created_at.toISOString(),
    type: type as EventType,
    source: source as EventSource,
    attempt: attempt as number | null,
    latency_ms: before ? Math.max(0, created_at.getTime() - before.created_at.getTime()) : null,
    sentence: sentenceOf(type, data as Data),
    details: withoutOtherOwner(details),
  };
}

/** Another user's id is not the owner's to know; operators find it in the stored event. */
const withoutOtherOwner = ({ named_owner: named, ...details }: Data): Data =>
  named === undefined ? details : { ...details, named_other_owner: true };

const namedOwner = (data: Data): string =>
  data['named_owner'] === undefined ? '' : ' A service caller made this change and named another owner.';

const WHO: Readonly<Record<string, string>> = {
  caller: 'The caller',
  webhook: 'The provider',
  inspect: 'The provider, when it was asked,',
  replay: 'An operator, by replaying a delivery,',
  service: 'The service',
  reconcile: 'The sweep',
  operator: 'An operator',
};

function sentenceOf(type: string, data: Data): string {
  const who = WHO[String(data['source'] ?? 'caller')] ?? 'Somebody';
  const words = SENTENCES[type as EventType]?.(who, data) ?? `${who} noted ${type}.`;
  const providerCode = data['provider_code'];
  return `${words}${providerCode === undefined ? '' : ` The provider's own code is ${String(providerCode)}.`}${nextLook(data)}${namedOwner(data)}`;
}

const nextLook = ({ next_check_at: at }: Data): string =>
  typeof at === 'string' ? ` Looked at next at ${at}.` : '';

const again = ({ attempt }: Data): string => (Number(attempt) > 1 ? `, in attempt ${Number(attempt)}` : '');

function began({ source = 'caller', attempt }: Data): string {
  if (source !== 'caller') return 'reported that work on it began';
  return Number(attempt) > 1
    ? 'asked for another try: work on it began again'
    : 'said that the bytes are there: work on them began';
}

const RESTORED = 'It was brought back from the trash.';

function changed(who: string, { source = 'caller', fields }: Data): string {
  const names = (fields as string[] | undefined)?.join(', ') || 'nothing changed';
  return source === 'caller' ? `It was edited: ${names}.` : `${who} changed ${names}.`;
}

const SENTENCES: Readonly<Record<EventType, (who: string, data: Data) => string>> = {
  'asset.created': () => 'The asset was made.',
  'asset.uploaded': () => 'All bytes arrived and are stored.',
  'asset.processing': (who, data) => `${who} ${began(data)}${again(data)}.`,
  'asset.playable': () => 'There is something to play now.',
  'asset.progress': (_who, data) => `Encoding has reached ${Number(data['progress'] ?? 0)} %.`,
  'asset.ready': (who, data) => `${who} reported that it is ready${again(data)}.`,
  'asset.failed': (who, data) =>
    data['source'] === 'operator'
      ? `${who} cancelled the encoding${again(data)}.`
      : `${who} ${data['source'] === 'service' ? 'refused it' : 'reported that it failed'}${again(data)}: ${String(data['code'] ?? 'no reason given')}.`,
  'asset.updated': (who, data) => {
    if (data['upload_reopened']) return `The upload was opened again${again(data)}.`;
    return data['restored'] ? RESTORED : changed(who, data);
  },
  'asset.restored': () => RESTORED,
  'asset.deleted': (_who, data) =>
    data['restorable'] ? 'It was moved to the trash.' : 'It was deleted for good.',
  'asset.checked': (who, data) =>
    CHECKED[String(data['reason'])] ?? `${who} met trouble: ${String(data['code'] ?? data['reason'])}.`,
};

/** Why the sweep left an asset as it was, or what it did. */
const CHECKED: Readonly<Record<string, string>> = {
  not_due: 'Work on it is under way and may take until then, as fast as its provider was lately.',
  job_under_way: 'It takes longer than expected; its job waits or runs.',
  job_lost: 'Its job was lost and has been started again.',
  encoder_outside:
    'It takes longer than expected; an encoder outside of this service is at work, and only its reports tell of it.',
  nothing_waited_for: 'There is nothing more to wait for.',
  not_configured:
    'It takes longer than expected, and its provider cannot be asked: its settings are missing.',
  not_answered: 'It takes longer than expected, and its provider could not be asked.',
  no_bytes_yet: 'Its provider was asked and has no bytes of it yet.',
  repaired: 'A report was lost: the provider was asked, and the asset repaired by the sweep.',
  still_processing: 'Its provider was asked and is still at work.',
  still_failed: 'Its provider was asked and holds to the failure.',
  still_ready: 'Its provider was asked and holds to what is ready.',
};
