// Reads the JSON of tokens so that nobody can read it differently: one object, valid UTF-8, no name twice.

export type JsonObject = Readonly<Record<string, unknown>>;

// A byte order mark stays in the text, and JSON.parse refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isObject(value) && Object.keys(value).length === countMembers(text) ? value : undefined;
  } catch {
    // Neither UTF-8 nor JSON: the caller's answer to "not a token" is the same for both.
    return undefined;
  }
}

/** A member that the text had, never one that a prototype lends. */
export const getOwn = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** How many members the outermost object of a valid JSON text was written with: JSON.parse keeps only the last of a repeated name. */
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
