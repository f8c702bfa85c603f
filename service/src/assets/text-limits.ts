// Validates text, metadata and filter values of requests (contract B1, B3).
import { assertEach, badRequest } from '../platform/http/errors.ts';
import { isPlainText, notPlainText } from '../platform/values/plain-text.ts';
import { firstIdOf } from '../platform/values/uuid.ts';

/** Text of a third party, made storable; undefined if nothing is left. */
export const toPlainText = (value: unknown, maxLength = 500): string | undefined =>
  typeof value === 'string'
    ? value
        .toWellFormed()
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, maxLength)
        .toWellFormed() || undefined
    : undefined;

export const MAX_METADATA_BYTES = 16 * 1024;

/** Far below the depth at which parsers fail. */
export const MAX_METADATA_LEVELS = 100;

/** True when the JSON is within the limits, and has no text that JSON columns reject. */
export const isMetadata = (metadata: object): boolean =>
  isPlainJson(metadata) && Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES;

/** True when JSON columns take the value, which has at most this many levels. */
export function isPlainJson(value: unknown, levels = MAX_METADATA_LEVELS): boolean {
  if (typeof value === 'string') return isPlainText(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 &&
    Object.entries(value).every(([name, inner]) => isPlainText(name) && isPlainJson(inner, levels - 1))
  );
}

const invalidMetadata = () =>
  badRequest('metadata must be at most 16 KiB of JSON, at most 100 levels deep, without null characters', {
    field: 'metadata',
    limit: MAX_METADATA_BYTES,
  });

/** Checks every text of a request, and its metadata. Throws BAD_REQUEST with the fields. */
export function assertTextLimits({
  metadata,
  ...members
}: Readonly<Record<string, unknown>> & { readonly metadata?: object | null | undefined }): void {
  assertEach([
    ...Object.entries(members).map(([field, value]) => () => {
      if (!textsOf(value).every(isPlainText)) throw notPlainText(field);
    }),
    () => {
      if (metadata && !isMetadata(metadata)) throw invalidMetadata();
    },
  ]);
}

const textsOf = (value: unknown): readonly string[] =>
  [value].flat().filter((each): each is string => typeof each === 'string');

const TIME = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * The lowest id at an ISO 8601 time; `round` selects the millisecond for more precise times. Throws
 * BAD_REQUEST with the field.
 */
export function parseIdAt(
  field: string,
  time: string | undefined,
  round: (ms: number) => number,
): string | undefined {
  const at = parseTime(field, time);
  return at && firstIdOf(round(at.getTime()));
}

/** Throws BAD_REQUEST with the field. */
export function parseTime(field: string, time: string | undefined): Date | undefined {
  if (time === undefined) return undefined;
  const day = TIME.exec(time)?.[1];
  const at = new Date(time);
  if (day === undefined || !isCalendarDay(day) || Number.isNaN(at.getTime()))
    throw badRequest(`${field} must be an ISO 8601 time with its zone, or a date`, { field });
  return at;
}

/** `Date.parse` reads February 30 as March 2. */
export function isCalendarDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
