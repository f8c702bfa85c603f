// What may be written on an asset: text that a column can hold, JSON of a bounded size (contract B1).
import { badRequest } from '../platform/errors.ts';
import { firstIdOf } from '../platform/uuid.ts';

/** Text that a database column can hold as it is. */
export const isPlainText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Words of a stranger, fit to be stored and shown; undefined where there are none. */
export const toPlainText = (value: unknown, longest = 500): string | undefined =>
  typeof value === 'string'
    ? value
        .toWellFormed()
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, longest)
        .toWellFormed() || undefined
    : undefined;

export const MAX_METADATA_BYTES = 16 * 1024;

/** Deeper than anybody writes by hand, and far from where parsers give up. */
export const MAX_METADATA_LEVELS = 100;

/** Whether callers' own JSON fits, and holds no text that JSON columns refuse. */
export const isMetadata = (metadata: object): boolean =>
  isPlainJson(metadata, MAX_METADATA_LEVELS) &&
  Buffer.byteLength(JSON.stringify(metadata)) <= MAX_METADATA_BYTES;

function isPlainJson(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isPlainText(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 &&
    Object.entries(value).every(([name, inner]) => isPlainText(name) && isPlainJson(inner, levels - 1))
  );
}

type OwnText = {
  readonly title?: string | null;
  readonly tags?: readonly string[];
  readonly metadata?: object | null;
};

/** Throws BAD_REQUEST with the field. */
export function assertTextLimits({ title, tags, metadata }: OwnText): void {
  if (title && !isPlainText(title)) throw badRequest('title must be plain text', { field: 'title' });
  if (tags?.some((tag) => !isPlainText(tag))) throw badRequest('tags must be plain text', { field: 'tags' });
  if (metadata && !isMetadata(metadata)) {
    throw badRequest(
      'metadata must be at most 16 KiB of JSON, at most 100 levels deep, without null characters',
      { field: 'metadata', max_bytes: MAX_METADATA_BYTES },
    );
  }
}

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
