// A named, prepared statement that carries the shape of its rows.
import type { Shape } from './row.ts';

/** What `db.all` and `db.one` take. */
export type Statement<S extends Shape = Shape> = {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  readonly shape: S;
};

/** Text that is part of a statement for ever, such as a list of columns; never anything that came from outside. */
export type Fragment = { readonly fragment: string };

/** The columns of a shape as a select list: named one by one, so that a new column cannot break a prepared `select *`. */
export const columns = (shape: Shape): Fragment => ({ fragment: Object.keys(shape).join(', ') });

/** The same, each under its table's alias. */
export const columnsOf = (alias: string, shape: Shape): Fragment => ({ fragment: Object.keys(shape).map((name) => `${alias}.${name}`).join(', ') });

const texts = new WeakMap<TemplateStringsArray, string>();
const names = new Set<string>();

/** sql('find note', noteRow)`select … where id = ${id}`: values become $1, $2, …; a name has one place in the source. */
export function sql<const S extends Shape = Record<never, never>>(name: string, shape = {} as S) {
  return (strings: TemplateStringsArray, ...parts: unknown[]): Statement<S> => ({
    name, shape, text: texts.get(strings) ?? remember(name, strings, parts), values: parts.filter((part) => !isFragment(part)),
  });
}

function remember(name: string, strings: TemplateStringsArray, parts: unknown[]): string {
  if (names.has(name)) throw new Error(`two statements are named "${name}"`);
  names.add(name);
  const text = compose(strings, parts);
  texts.set(strings, text);
  return text;
}

function compose(strings: TemplateStringsArray, parts: unknown[]): string {
  let count = 0;
  const written = parts.map((part) => (isFragment(part) ? part.fragment : `$${++count}`));
  return strings.reduce((head, tail, index) => `${head}${written[index - 1]}${tail}`);
}

const isFragment = (part: unknown): part is Fragment => typeof part === 'object' && part !== null && 'fragment' in part;
