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
    Object.entries(forGenerators(members))
      .filter(([name]) => !name.startsWith('~'))
      .map(([name, value]) => [name, name === 'examples' ? value : replaced(value, components)]),
  );
}

type Discriminated = {
  readonly anyOf: readonly {
    readonly $id: string;
    readonly properties: Record<string, { const?: unknown }>;
  }[];
  readonly discriminator: { readonly propertyName: string };
};

/** The pattern of `Type.Record(Type.String(), …)`. */
const ANY_NAME = '^.*$';

/** Client generators need the values of a discriminator, and support only `additionalProperties` for maps. */
function forGenerators(members: Record<string, unknown>): Record<string, unknown> {
  const { patternProperties, ...rest } = members;
  const map = (patternProperties as Record<string, unknown> | undefined)?.[ANY_NAME];
  if (map !== undefined) return { ...rest, additionalProperties: map };
  if (!('discriminator' in members)) return members;
  const { anyOf, discriminator } = members as unknown as Discriminated;
  const mapping = anyOf.map(({ $id, properties }) => [
    properties[discriminator.propertyName]?.const,
    `#/components/schemas/${$id}`,
  ]);
  return { ...members, discriminator: { ...discriminator, mapping: Object.fromEntries(mapping) } };
}
