// Text that a database column can store unchanged.
import { badRequest, type ServiceError } from '../http/errors.ts';

export const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** The escapes of JSON that jsonb refuses: NUL and unpaired surrogates. Any other escape is matched whole. */
const ESCAPE = /\\(?:(u0000|ud[89a-f]..)|.)/g;

/** JSON that jsonb stores, of a value that may hold text of strangers. */
export const toPlainJson = (value: object): string =>
  JSON.stringify(value).replace(ESCAPE, (whole, refused) => (refused ? '\ufffd' : whole));

export const notPlainText = (field: string): ServiceError =>
  badRequest(`${field} must not contain null characters or unpaired surrogates`, { field });

/** Throws BAD_REQUEST with the field, because other text cannot be stored and so cannot be found. */
export function parsePlainText(field: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isPlainText(text)) throw notPlainText(field);
  return text;
}
