// Renders a JSON schema as a TypeScript type, for the generated types of packages/client.

type Schema = Readonly<Record<string, unknown>>;

/** Types that declarations can mention. */
export type KnownTypes = {
  /** Names of schemas, which is their `$id`. */
  readonly names: ReadonlySet<string>;
  /** Values of an enumeration, joined by a comma → its name. */
  readonly enums: ReadonlyMap<string, string>;
  /** Schemas whose members others repeat. */
  readonly bases: Readonly<Record<string, Schema>>;
};
type Context = KnownTypes & { readonly used: Set<string>; readonly indent: string };

const COLUMNS = 110;

/** Members that the service takes in any form, with the form that it documents. */
const MEMBER_TYPES: Readonly<Record<string, string>> = {
  provider_video_id: 'string',
  max_duration_s: 'number',
};

/** Schemas whose member `code` is one of a list. */
const CODE_LISTS: Readonly<Record<string, string>> = { Failure: 'FailureCode', Warning: 'WarningCode' };

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** One declaration; `used` receives the names of the types that it mentions. */
export function renderDeclaration(
  name: string,
  schema: Schema,
  known: KnownTypes & { used: Set<string> },
): string {
  const context = { ...known, indent: '' };
  const head = `${renderComment(schema, '')}export type ${name} =`;
  const base = findBase(name, schema, known);
  if (base === undefined) return declare(head, renderStructure(schema, context));
  known.used.add(base);
  return declare(head, `${base} & ${renderStructure(withoutMembersOf(schema, known.bases[base]), context)}`);
}

export const renderUnion = (name: string, values: readonly string[], comment: string): string =>
  declare(`${toComment(comment, '')}export type ${name} =`, values.map(renderLiteral).join(' | '));

const declare = (head: string, type: string): string => `${place(head, type, '')};\n`;

/** As the formatter breaks unions: one alternative per line where the line is too long. */
function place(head: string, type: string, indent: string): string {
  const line = `${head} ${type}`;
  const length = line.length - line.lastIndexOf('\n', head.length) - 1;
  if (type.includes('\n') || length + 1 <= COLUMNS) return line;
  return [head, ...type.split(' | ').map((part) => `${indent}  | ${part}`)].join('\n');
}

const propertiesOf = (schema: Schema | undefined): Readonly<Record<string, Schema>> =>
  (schema?.['properties'] ?? {}) as Record<string, Schema>;

function findBase(name: string, schema: Schema, { bases }: KnownTypes): string | undefined {
  const own = propertiesOf(schema);
  const repeats = (base: Schema): boolean =>
    Object.entries(propertiesOf(base)).every(([member, property]) => own[member] === property);
  return Object.keys(bases).find((base) => base !== name && repeats(bases[base] as Schema));
}

const withoutMembersOf = (schema: Schema, base: Schema | undefined): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(propertiesOf(schema)).filter(([member]) => !(member in propertiesOf(base))),
  ),
});

function renderType(schema: Schema, context: Context): string {
  const { $id: id } = schema;
  const name = typeof id === 'string' && context.names.has(id) ? id : undefined;
  if (name === undefined) return renderStructure(schema, context);
  context.used.add(name);
  return name;
}

function renderStructure(schema: Schema, context: Context): string {
  if (Array.isArray(schema['anyOf'])) return renderAlternatives(schema['anyOf'], context);
  if (Array.isArray(schema['enum'])) return renderEnum(schema['enum'], context);
  if ('const' in schema) return renderLiteral(schema['const']);
  if (schema['type'] === 'array') return renderArray(schema['items'] as Schema, context);
  if (schema['type'] === 'object') return renderObject(schema, context);
  return PRIMITIVES[String(schema['type'])] ?? 'unknown';
}

const renderLiteral = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value));

function renderEnum(values: readonly unknown[], { enums, used }: Context): string {
  const name = enums.get(values.join());
  if (name === undefined) return values.map(renderLiteral).join(' | ');
  used.add(name);
  return name;
}

const renderAlternatives = (alternatives: readonly Schema[], context: Context): string =>
  [...new Set(alternatives.map((alternative) => renderType(alternative, context)))].join(' | ');

function renderArray(items: Schema, context: Context): string {
  const text = renderType(items, context);
  return text.includes(' | ') ? `(${text})[]` : `${text}[]`;
}

function renderObject(schema: Schema, context: Context): string {
  const [pattern] = Object.values((schema['patternProperties'] ?? {}) as Record<string, Schema>);
  if (pattern) return `Record<string, ${renderType(pattern, context)}>`;
  const properties = Object.entries(propertiesOf(schema));
  if (properties.length === 0) return 'Record<string, unknown>';
  const indent = `${context.indent}  `;
  const members = properties.map(([name, property]) => {
    const isRequired = ((schema['required'] ?? []) as readonly string[]).includes(name);
    const codes = name === 'code' ? CODE_LISTS[String(schema['$id'])] : undefined;
    const type = codes ? renderCode(codes, context) : renderMember(name, property, { ...context, indent });
    const comment = codes ? '' : renderComment(property, indent);
    const head = `${comment}${indent}${name}${isRequired ? '' : '?'}:`;
    return `${place(head, isRequired ? type : `${type} | undefined`, indent)};\n`;
  });
  return `{\n${members.join('')}${context.indent}}`;
}

/** Editors suggest the known codes; an encoder may report others. */
function renderCode(codes: string, { used }: Context): string {
  used.add(codes);
  return `${codes} | (string & {})`;
}

/** Without a type in the schema: members that the service takes in any form. */
const renderMember = (name: string, property: Schema, context: Context): string =>
  'type' in property || 'anyOf' in property || 'enum' in property || 'const' in property
    ? renderType(property, context)
    : (MEMBER_TYPES[name] ?? 'unknown');

const renderComment = ({ anyOf, description }: Schema, indent: string): string => {
  const inner = Array.isArray(anyOf) ? (anyOf[0] as Schema)['description'] : undefined;
  return toComment(String(description ?? inner ?? ''), indent);
};

function toComment(text: string, indent: string): string {
  if (text === '') return '';
  const line = `${indent}/** ${text} */`;
  if (line.length <= COLUMNS) return `${line}\n`;
  const lines = wrap(text, COLUMNS - indent.length - 3);
  return `${indent}/**\n${lines.map((words) => `${indent} * ${words}\n`).join('')}${indent} */\n`;
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
