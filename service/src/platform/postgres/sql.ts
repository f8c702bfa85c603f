// A named, prepared statement that carries the shape of its rows.
import type { Shape } from './row.ts';

/** What `db.all` and `db.one` take. */
export type Statement<S extends Shape = Shape> = {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  readonly shape: S;
};

const texts = new WeakMap<TemplateStringsArray, string>();
const names = new Set<string>();

/** sql('find asset', assetRow)`select … where id = ${id}`: values become $1, $2, …; a name has one place in the source. */
export function sql<const S extends Shape = Record<never, never>>(name: string, shape = {} as S) {
  return (strings: TemplateStringsArray, ...values: unknown[]): Statement<S> => ({
    name, values, shape, text: texts.get(strings) ?? remember(name, strings),
  });
}

function remember(name: string, strings: TemplateStringsArray): string {
  if (names.has(name)) throw new Error(`two statements are named "${name}"`);
  names.add(name);
  const text = strings.reduce((head, tail, index) => `${head}$${index}${tail}`);
  texts.set(strings, text);
  return text;
}
