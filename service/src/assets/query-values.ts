// Reads what the filters of lists have in common: plain text, and moments.
import { badRequest } from '../platform/errors.ts';
import { firstIdOf } from '../platform/uuid.ts';
import { isPlainText } from './text-limits.ts';

/** Text that a column could hold, and so could be found. Throws BAD_REQUEST with the field. */
export function parsePlainText(field: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isPlainText(text)) throw badRequest(`${field} must be plain text`, { field });
  return text;
}

const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** The lowest id of a moment; `round` says of which millisecond, where the moment lies between two. Throws BAD_REQUEST with the field. */
export function parseIdAt(
  field: string,
  moment: string | undefined,
  round: (ms: number) => number,
): string | undefined {
  if (moment === undefined) return undefined;
  const ms = MOMENT.test(moment) ? Date.parse(moment) : Number.NaN;
  if (Number.isNaN(ms))
    throw badRequest(`${field} must be an ISO 8601 time with its zone, or a date`, { field });
  return firstIdOf(round(ms));
}
