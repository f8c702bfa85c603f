// The position of an event in the feed; clients resume from it (contract B8).
import { badRequest } from '../platform/errors.ts';
import { isUuid } from '../platform/uuid.ts';

/** Ordered by `transactionId`, then `id`. */
export type Position = { readonly transactionId: number; readonly id: string };

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
