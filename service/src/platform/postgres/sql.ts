// Named, prepared SQL statements that carry the shape of their rows.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Shape } from './row.ts';

/** The argument of `db.all` and `db.one`. */
export type Statement<S extends Shape = Shape> = {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  readonly shape: S;
};

const TEXT = Symbol('text');

/** Constant SQL text such as a list of columns. Request data cannot be a fragment. */
type Fragment = { readonly [TEXT]: string };

export const fragment = ([text = '']: TemplateStringsArray): Fragment => ({ [TEXT]: text });

/** The columns of a shape as a select list. A new column would break a prepared `select *`. */
export const columns = (shape: Shape): Fragment => ({ [TEXT]: Object.keys(shape).join(', ') });

/** The columns of a shape with a table alias. */
export const columnsOf = (alias: string, shape: Shape): Fragment => ({
  [TEXT]: Object.keys(shape)
    .map((name) => `${alias}.${name}`)
    .join(', '),
});

/** The columns of a shape with their types, for functions such as `jsonb_to_recordset`. */
export const definitions = (shape: Shape): Fragment => ({
  [TEXT]: Object.entries(shape)
    .map(([name, type]) => `${name} ${type.replace('?', '')}`)
    .join(', '),
});

/** Constants of the source, for `in (…)`. An index on the same list is used only for literals. */
export const literals = (texts: readonly string[]): Fragment => ({
  [TEXT]: texts.map((text) => `'${text}'`).join(', '),
});

/** Assignments for an update that changes only the columns named in a JSON object. */
export const patches = ({ table, json, row }: PatchSource, shape: Shape): Fragment => ({
  [TEXT]: Object.keys(shape)
    .map((name) => `${name} = case when ${json} ? '${name}' then ${row}.${name} else ${table}.${name} end`)
    .join(', '),
});

/** `json`: a jsonb expression; `row`: the alias of `jsonb_to_record` or `jsonb_populate_record` of it. */
type PatchSource = { readonly table: string; readonly json: string; readonly row: string };

const texts = new WeakMap<TemplateStringsArray, string>();
const names = new Set<string>();

/**
 * sql('find note', noteRow)`select … where id = ${id}`: values become $1, $2, …; each name must be used once
 * in the source.
 */
export function sql<const S extends Shape = Record<never, never>>(name: string, shape = {} as S) {
  return (strings: TemplateStringsArray, ...parts: unknown[]): Statement<S> => ({
    name,
    shape,
    text: texts.get(strings) ?? registerStatement(name, strings, parts),
    values: parts.filter((part) => !isFragment(part)),
  });
}

function registerStatement(name: string, strings: TemplateStringsArray, parts: unknown[]): string {
  if (names.has(name)) throw new Error(`two statements are named "${name}"`);
  names.add(name);
  const text = compose(strings, parts);
  texts.set(strings, text);
  return text;
}

function compose(strings: TemplateStringsArray, parts: readonly unknown[], numbers = { count: 0 }): string {
  const rendered = parts.map((part) => {
    if (isFragment(part)) return part[TEXT];
    numbers.count += 1;
    return `$${numbers.count}`;
  });
  return strings.reduce((head, tail, index) => `${head}${rendered[index - 1]}${tail}`);
}

const isFragment = (part: unknown): part is Fragment =>
  typeof part === 'object' && part !== null && TEXT in part;

/** Names of statements of a library. The limit is for a library that writes values into its texts. */
const preparedNames = new Map<string, string>();
const MAX_PREPARED = 500;

/** A statement of a library, which is prepared like our own. Equal texts have one name in all processes. */
export function prepare(text: string, values: unknown[]): pg.QueryConfig {
  const known = preparedNames.get(text);
  if (known === undefined && preparedNames.size >= MAX_PREPARED) return { text, values };
  const name = known ?? createHash('sha256').update(text).digest('hex').slice(0, MAX_NAME_LENGTH);
  preparedNames.set(text, name);
  return { name, text, values };
}

/**
 * A part of a statement that depends on the request, such as a filter; `key` is added to the statement's
 * name.
 */
export type Clause = {
  readonly key: string;
  readonly strings: TemplateStringsArray;
  readonly parts: readonly unknown[];
};

export const clause =
  (key: string) =>
  (strings: TemplateStringsArray, ...parts: unknown[]): Clause => ({ key, strings, parts });

const composedTexts = new Map<string, string>();

/** Joins clauses to a statement. Equal clauses give equal names, so the statement is prepared once. */
export function composeClauses<const S extends Shape>(
  name: string,
  shape: S,
  clauses: readonly Clause[],
): Statement<S> {
  const fullName = [name, ...clauses.map(({ key }) => key).filter(Boolean)].join(' ');
  const text = composedTexts.get(fullName) ?? join(clauses);
  composedTexts.set(fullName, text);
  return {
    name: shortenName(fullName),
    shape,
    text,
    values: clauses.flatMap(({ parts }) => parts.filter((part) => !isFragment(part))),
  };
}

/** PostgreSQL truncates longer names, which would make two names equal. */
const MAX_NAME_LENGTH = 63;

const shortenName = (name: string): string =>
  name.length <= MAX_NAME_LENGTH
    ? name
    : `${name.slice(0, 42)} ${createHash('sha256').update(name).digest('hex').slice(0, 20)}`;

function join(clauses: readonly Clause[]): string {
  const numbers = { count: 0 };
  return clauses.map(({ strings, parts }) => compose(strings, parts, numbers)).join(' ');
}
