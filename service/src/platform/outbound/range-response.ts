// Decides whether a download can be continued, and whether a response continues it (RFC 9110, 13.1.5 and 14.4).

/** What a later request needs to continue at a byte offset. */
export type ResumePoint = {
  readonly offset: number;
  /** A strong ETag, or a Last-Modified date. */
  readonly validator: string;
  /** Undefined: not known yet. */
  readonly totalBytes: number | undefined;
};

const STRONG_ETAG = /^"[\x21\x23-\x7e\x80-\xff]*"$/;
/** A file can change twice within the resolution and the skew of the server's clocks. */
const MIN_AGE_MS = 60_000;

/** The value for `If-Range`; undefined where the server offers none that identifies the bytes. */
export function toValidator(headers: Headers): string | undefined {
  if (/^\s*none\s*$/i.test(headers.get('accept-ranges') ?? '')) return undefined;
  const etag = headers.get('etag');
  // With an ETag, even a weak one, the RFC forbids the date.
  if (etag !== null) return STRONG_ETAG.test(etag) ? etag : undefined;
  const modified = headers.get('last-modified') ?? '';
  const ageMs = Date.parse(headers.get('date') ?? '') - Date.parse(modified);
  return ageMs >= MIN_AGE_MS ? modified : undefined;
}

/** `partBytes`: length of this part, which may end before the total. */
export type Continuation = { readonly partBytes: number; readonly totalBytes: number };

/** Undefined: the response does not continue at this point, or does not prove it. */
export function toContinuation(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  { offset, validator, totalBytes }: ResumePoint,
): Continuation | undefined {
  const range = parseContentRange(headers.get('content-range') ?? '');
  const total = range?.totalBytes ?? totalBytes;
  if (status !== 206 || range === undefined || total === undefined) return undefined;
  const partBytes = range.end - range.start + 1;
  const isConsistent =
    range.start === offset &&
    range.end >= offset &&
    range.end < total &&
    total === (totalBytes ?? total) &&
    Number(headers.get('content-length') ?? partBytes) === partBytes;
  const current = headers.get(validator.startsWith('"') ? 'etag' : 'last-modified');
  // Some servers ignore If-Range and send a part of the new content.
  return isConsistent && current === validator ? { partBytes, totalBytes: total } : undefined;
}

const CONTENT_RANGE = /^\s*bytes\s+(\d{1,15})-(\d{1,15})\/(?:(\d{1,15})|\*)\s*$/i;

function parseContentRange(
  text: string,
): { start: number; end: number; totalBytes: number | undefined } | undefined {
  const found = CONTENT_RANGE.exec(text);
  if (!found) return undefined;
  const [, start, end, total] = found;
  return {
    start: Number(start),
    end: Number(end),
    totalBytes: total === undefined ? undefined : Number(total),
  };
}
