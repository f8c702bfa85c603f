// Parses user ids: the `user_id` claim of a token and `owner_user_id` of a service request (contract B10).
import { badRequest } from '../platform/http/errors.ts';

const MAX_LENGTH = 255;
const CONTROL = /\p{Cc}/u;

/** Returns the user id as text; undefined when the value is invalid. */
export function parseUserId(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && isUserId(value) ? value : undefined;
}

/** The owner in the path of an operator's request. Throws BAD_REQUEST. */
export function parseOwnerId(value: string): string {
  const owner = parseUserId(value);
  if (owner === undefined)
    throw badRequest('owner_user_id must be text of 1 to 255 characters without control characters', {
      field: 'owner_user_id',
      limit: MAX_LENGTH,
    });
  return owner;
}

const isUserId = (text: string): boolean =>
  isShort(text) && text.trim() !== '' && text.isWellFormed() && !CONTROL.test(text);

/** Counts code points only when the UTF-16 length allows a valid id, because counting a long text is slow. */
const isShort = (text: string): boolean =>
  text.length <= MAX_LENGTH || (text.length <= 2 * MAX_LENGTH && [...text].length <= MAX_LENGTH);
