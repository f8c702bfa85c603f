// Narrows named strings of a schema to the values that a running service knows.
import type { TSchema } from 'typebox';

/** `$id` of a string schema → its allowed values. */
export type KnownValues = Readonly<Record<string, readonly string[]>>;

/** The schema with an `enum` on every part whose `$id` is in `values`. */
export function narrow<T extends TSchema>(schema: T, values: KnownValues): T {
  return narrowed(schema, values) as T;
}

function narrowed(value: unknown, values: KnownValues): unknown {
  if (Array.isArray(value)) return value.map((item) => narrowed(item, values));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, narrowed(inner, values)]),
  );
  const { $id, ...rest } = members;
  const allowed = typeof $id === 'string' ? values[$id] : undefined;
  return allowed ? { ...rest, enum: [...allowed] } : members;
}
