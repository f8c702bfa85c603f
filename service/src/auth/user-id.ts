// Who a user is, in one spelling: a token's user_id and a service caller's owner_user_id follow the same rule (B10).

const LONGEST = 255;
const CONTROL = /\p{Cc}/u;

/** The user's id as text, or undefined where the value names nobody. */
export function parseUserId(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && isUserId(value) ? value : undefined;
}

const isUserId = (text: string): boolean =>
  isShort(text) && text.trim() !== '' && text.isWellFormed() && !CONTROL.test(text);

/** A code point takes one or two places, so only what may be short is ever counted. */
const isShort = (text: string): boolean =>
  text.length <= LONGEST || (text.length <= 2 * LONGEST && [...text].length <= LONGEST);
