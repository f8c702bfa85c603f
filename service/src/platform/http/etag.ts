// Reads If-None-Match, which names the versions that a caller has (RFC 9110 §13.1.2).

/** A cache on the way may hold several versions, or have weakened ours by compressing it. */
export const matchesEtag = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag) ?? false;
