// Parses JSON from bytes strictly: valid UTF-8 only, and for tokens one object without duplicate names.

// `ignoreBOM` leaves a byte order mark in the text, so that JSON.parse rejects it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws SyntaxError or TypeError. */
export const parseJson = (bytes: Uint8Array): unknown => JSON.parse(utf8.decode(bytes));

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * For tokens. Undefined for invalid JSON, a value that is not an object, and duplicate names in the object.
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isObject(value) && Object.keys(value).length === countMembers(text) ? value : undefined;
  } catch {
    // Invalid UTF-8 and invalid JSON are not distinguished.
    return undefined;
  }
}

/** Reads an own member, never an inherited one. */
export const getOwn = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Counts the members of the outermost object in a valid JSON text, because JSON.parse silently drops
 * duplicates.
 */
function countMembers(json: string): number {
  let members = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const mark = json[at];
    if (mark === '"') at = endOfString(json, at);
    else if (mark === '{' || mark === '[') depth++;
    else if (mark === '}' || mark === ']') depth--;
    else if (mark === ':' && depth === 1) members++;
  }
  return members;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}
