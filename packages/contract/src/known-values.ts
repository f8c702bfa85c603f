// Restricts named strings of a schema, such as provider names, to the values that the running service allows.
import type { TSchema } from 'typebox';

/** `$id` of a string schema → its allowed values. */
export type KnownValues = Readonly<Record<string, readonly string[]>>;

/** Adds an `enum` to every part of the schema whose `$id` is in `values`. */
export function addKnownValues<T extends TSchema>(schema: T, values: KnownValues): T {
  return addToNode(schema, values) as T;
}

function addToNode(value: unknown, values: KnownValues): unknown {
  if (Array.isArray(value)) return value.map((item) => addToNode(item, values));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, addToNode(inner, values)]),
  );
  const { $id, ...rest } = members;
  const allowed = typeof $id === 'string' ? values[$id] : undefined;
  return allowed ? { ...rest, enum: [...allowed] } : members;
}
