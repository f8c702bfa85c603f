// Parses JSON from bytes without lenient decoding.

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Rejects invalid UTF-8 and a byte order mark. Throws SyntaxError or TypeError. */
export const parseJson = (bytes: Uint8Array): unknown => JSON.parse(utf8.decode(bytes));
