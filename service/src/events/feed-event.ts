// Events of the feed, their positions, and the messages that clients receive (contract B8).
import type { PublishedEventType } from '@mediary/contract/enums';
import type { Asset as AssetView } from '@mediary/contract/schemas/assets/asset';
import type { EventMessage } from '@mediary/contract/schemas/events';
import { badRequest } from '../platform/http/errors.ts';
import { isUuid } from '../platform/values/uuid.ts';

/** Ordered by `transactionId`, then `id`. */
export type Position = { readonly transactionId: number; readonly id: string };

/** A stored event with its position. */
export type FeedEvent = {
  readonly id: string;
  readonly asset_id: string;
  readonly owner_user_id: string;
  readonly type: string;
  readonly data: unknown;
  readonly created_at: Date;
  readonly position: Position;
};

/** At most one member is set; an empty filter matches every event. */
export type FeedFilter = { readonly assetId?: string | undefined; readonly ownerUserId?: string | undefined };

export type PageOptions = {
  readonly after: Position;
  /** The last position of the page; undefined: up to the newest event. */
  readonly until?: Position | undefined;
  readonly filter?: FeedFilter | undefined;
  readonly limit: number;
};

export type FeedPage = {
  readonly events: readonly FeedEvent[];
  /** Position of the last event; the start of the page if there is none. */
  readonly position: Position;
  readonly hasMore: boolean;
  /** Later events exist that an unfinished transaction still holds back. */
  readonly isHeldBack: boolean;
};

/** `asset.checked` appears in the timeline only. */
export const isPublished = ({ type }: Pick<FeedEvent, 'type'>): boolean => type !== 'asset.checked';

/** `asset`: as it is now; null if it no longer exists. */
export function toEventMessage(event: Omit<FeedEvent, 'position'>, asset: AssetView | null): EventMessage {
  const {
    attempt = null,
    named_owner: _,
    key_name: __,
    ...data
  } = event.data as Readonly<Record<string, unknown>>;
  return {
    id: event.id,
    type: event.type as PublishedEventType,
    at: event.created_at.toISOString(),
    asset_id: event.asset_id,
    owner_user_id: event.owner_user_id,
    attempt: attempt as number | null,
    data,
    asset,
  };
}

/**
 * One event of a `text/event-stream` up to its last member, the asset; EVENT_END follows the asset. JSON
 * contains no line breaks.
 */
export function renderEventStart(event: FeedEvent): string {
  const { asset: _, ...message } = toEventMessage(event, null);
  const id = formatPosition(event.position);
  return `id: ${id}\nevent: ${message.type}\ndata: ${JSON.stringify(message).slice(0, -1)},"asset":`;
}

export const EVENT_END = '}\n\n';

/** What clients send to get every event that is stored. */
const BEGINNING = 'beginning';
const BEFORE_ALL: Position = { transactionId: 0, id: '00000000-0000-0000-0000-000000000000' };

const FORM = /^(\d{1,16})-([0-9a-f-]{36})$/;

export const formatPosition = ({ transactionId, id }: Position): string => `${transactionId}-${id}`;

/** Throws BAD_REQUEST. `field`: the header or parameter that holds the position. */
export function parsePosition(text: string, field: string): Position {
  if (text === BEGINNING) return BEFORE_ALL;
  const [, transactionId = '', id = ''] = FORM.exec(text) ?? [];
  const position = { transactionId: Number(transactionId), id };
  if (!isUuid(id) || !Number.isSafeInteger(position.transactionId)) throw invalidPosition(field);
  return position;
}

export const invalidPosition = (field: string) =>
  badRequest(
    `${field} is not a position of this event feed. Send the id of the last event received, or ${BEGINNING}.`,
    {
      field,
      reason: 'invalid_cursor',
    },
  );

export const isAfter = (a: Position, b: Position): boolean =>
  a.transactionId === b.transactionId ? a.id > b.id : a.transactionId > b.transactionId;
