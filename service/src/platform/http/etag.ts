// Compares If-None-Match with an ETag (RFC 9110 §13.1.2).

/** A cache may send several ETags, or a weak one when it compressed the response. */
export const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag) ?? false;
