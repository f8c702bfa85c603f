// Moves every schema with an `$id` into `components.schemas` and refers to it from everywhere else.

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Component name → schema. */
export type Components = Map<string, JsonSchema>;

/** The schema with every named part replaced by a reference; the parts are added to `components`. */
export function withReferences(schema: unknown, components: Components): JsonSchema {
  return replaced(schema, components) as JsonSchema;
}

function replaced(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const { $id, ...rest } = value as Record<string, unknown>;
  if (typeof $id !== 'string') return mapped(rest, components);
  if (!components.has($id)) {
    components.set($id, {});
    components.set($id, mapped(rest, components));
  }
  return { $ref: `#/components/schemas/${$id}` };
}

function mapped(members: Record<string, unknown>, components: Components): JsonSchema {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => !name.startsWith('~'))
      .map(([name, value]) => [name, name === 'examples' ? value : replaced(value, components)]),
  );
}
