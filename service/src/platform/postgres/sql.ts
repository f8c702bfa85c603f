// A named, prepared statement that carries the shape of its rows.
import { createHash } from 'node:crypto';
import type { Shape } from './row.ts';

/** What `db.all` and `db.one` take. */
export type Statement<S extends Shape = Shape> = {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  readonly shape: S;
};

const TEXT = Symbol('text');

/** Text that is part of a statement for ever, such as a list of columns; nothing that came from outside can be one. */
export type Fragment = { readonly [TEXT]: string };

/** The columns of a shape as a select list: named one by one, so that a new column cannot break a prepared `select *`. */
export const columns = (shape: Shape): Fragment => ({ [TEXT]: Object.keys(shape).join(', ') });

/** The same, each under its table's alias. */
export const columnsOf = (alias: string, shape: Shape): Fragment => ({
  [TEXT]: Object.keys(shape)
    .map((name) => `${alias}.${name}`)
    .join(', '),
});

/** The columns of a shape with their types: what a function needs that makes rows of JSON. */
export const definitions = (shape: Shape): Fragment => ({
  [TEXT]: Object.entries(shape)
    .map(([name, type]) => `${name} ${type.replace('?', '')}`)
    .join(', '),
});

/** Sets the columns that a JSON object names, of a row made of it, and leaves the others as they are. */
export const patches = ({ table, json, row }: PatchSource, shape: Shape): Fragment => ({
  [TEXT]: Object.keys(shape)
    .map((name) => `${name} = case when ${json} ? '${name}' then ${row}.${name} else ${table}.${name} end`)
    .join(', '),
});

/** `json`: a jsonb expression; `row`: the alias of the row that was made of it. */
type PatchSource = { readonly table: string; readonly json: string; readonly row: string };

const texts = new WeakMap<TemplateStringsArray, string>();
const names = new Set<string>();

/** sql('find note', noteRow)`select … where id = ${id}`: values become $1, $2, …; a name has one place in the source. */
export function sql<const S extends Shape = Record<never, never>>(name: string, shape = {} as S) {
  return (strings: TemplateStringsArray, ...parts: unknown[]): Statement<S> => ({
    name,
    shape,
    text: texts.get(strings) ?? remember(name, strings, parts),
    values: parts.filter((part) => !isFragment(part)),
  });
}

function remember(name: string, strings: TemplateStringsArray, parts: unknown[]): string {
  if (names.has(name)) throw new Error(`two statements are named "${name}"`);
  names.add(name);
  const text = compose(strings, parts);
  texts.set(strings, text);
  return text;
}

function compose(strings: TemplateStringsArray, parts: readonly unknown[], numbers = { count: 0 }): string {
  const written = parts.map((part) => {
    if (isFragment(part)) return part[TEXT];
    numbers.count += 1;
    return `$${numbers.count}`;
  });
  return strings.reduce((head, tail, index) => `${head}${written[index - 1]}${tail}`);
}

const isFragment = (part: unknown): part is Fragment =>
  typeof part === 'object' && part !== null && TEXT in part;

/** A part of a statement that is put together by what was asked for; `key` names it within the statement's name. */
export type Piece = {
  readonly key: string;
  readonly strings: TemplateStringsArray;
  readonly parts: readonly unknown[];
};

export const piece =
  (key: string) =>
  (strings: TemplateStringsArray, ...parts: unknown[]): Piece => ({ key, strings, parts });

const composedTexts = new Map<string, string>();

/** A statement of pieces: the same pieces have the same name, and are prepared once. */
export function composed<const S extends Shape>(
  name: string,
  shape: S,
  pieces: readonly Piece[],
): Statement<S> {
  const fullName = [name, ...pieces.map(({ key }) => key).filter(Boolean)].join(' ');
  const text = composedTexts.get(fullName) ?? join(pieces);
  composedTexts.set(fullName, text);
  return {
    name: withinLimit(fullName),
    shape,
    text,
    values: pieces.flatMap(({ parts }) => parts.filter((part) => !isFragment(part))),
  };
}

/** PostgreSQL reads no more of a name, and takes two that begin alike for one. */
const LONGEST_NAME = 63;

const withinLimit = (name: string): string =>
  name.length <= LONGEST_NAME
    ? name
    : `${name.slice(0, 42)} ${createHash('sha256').update(name).digest('hex').slice(0, 20)}`;

function join(pieces: readonly Piece[]): string {
  const numbers = { count: 0 };
  return pieces.map(({ strings, parts }) => compose(strings, parts, numbers)).join(' ');
}
