// Reads JSON from bytes as they came, and nothing that only looks like it.

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Invalid UTF-8 and a byte order mark are faults. Throws SyntaxError or TypeError. */
export const parseJson = (bytes: Uint8Array): unknown => JSON.parse(utf8.decode(bytes));
