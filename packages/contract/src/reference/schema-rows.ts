// The members of a schema as rows of a table: name, type, and what is allowed.
import { describeCodes, FAILURE_CODES, WARNING_CODES } from '../failures.ts';

export type Schema = {
  readonly $id?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly examples?: readonly unknown[];
};

/** Renders the name of an object that has a table of its own as a link. */
export type LinkObject = (name: string) => string | undefined;

/** `isRequired`: undefined in responses, whose optional members say when they are absent. */
export type MemberRow = {
  readonly name: string;
  readonly isRequired?: boolean;
  readonly type: string;
  readonly meaning: string;
};

/** The members of an object, those of inner objects by their path: `access.referrers`. */
export function listMembers(schema: Schema, link: LinkObject, isRequest: boolean): readonly MemberRow[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const isRequired = required.has(name) && member.default === undefined;
    const row = {
      name,
      ...(isRequest && { isRequired }),
      type: describeType(member, link),
      meaning: describeMember(member, !isRequest && !required.has(name)),
    };
    const inner = listInner(member, link, isRequest);
    return [row, ...inner.map((each) => ({ ...each, name: `${name}${each.name}` }))];
  });
}

function listInner(member: Schema, link: LinkObject, isRequest: boolean): readonly MemberRow[] {
  const schema = withoutNull(member);
  if (schema.$id !== undefined && link(schema.$id) !== undefined) return [];
  if (schema.type === 'array' && schema.items)
    return listInner(schema.items, link, isRequest).map((row) => ({ ...row, name: `[]${row.name}` }));
  return listMembers(schema, link, isRequest).map((row) => ({ ...row, name: `.${row.name}` }));
}

const isNull = ({ type }: Schema): boolean => type === 'null';

/** What a member is where it is not null. */
export function withoutNull(schema: Schema): Schema {
  const others = schema.anyOf?.filter((each) => !isNull(each));
  return others?.length === 1 && others[0] ? { ...others[0], ...onlyDescription(schema) } : schema;
}

const onlyDescription = ({ description }: Schema): Schema =>
  description === undefined ? {} : { description };

const FORMATS: Readonly<Record<string, string>> = { uuid: 'UUID', 'date-time': 'timestamp', uri: 'URL' };

function describeType(member: Schema, link: LinkObject): string {
  const suffix = member.anyOf?.some(isNull) ? ' or null' : '';
  const schema = withoutNull(member);
  const linked = schema.$id === undefined ? undefined : link(schema.$id);
  if (linked !== undefined) return linked + suffix;
  if (schema.type === 'array' && schema.items)
    return `list of ${toPlural(describeType(schema.items, link))}${suffix}`;
  if (schema.anyOf) return [...new Set(schema.anyOf.map((each) => describeType(each, link)))].join(' or ');
  if (schema.format !== undefined && FORMATS[schema.format]) return `${FORMATS[schema.format]}${suffix}`;
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return `${schema.type ?? (values.length > 0 ? typeof values[0] : 'any')}${suffix}`;
}

const toPlural = (type: string): string => (/^[a-z]+$|^UUID$|^URL$/i.test(type) ? `${type}s` : type);

/** Lists of codes that docs/errors.md has. */
const CODE_LISTS: readonly (readonly [codes: string, link: string])[] = [
  [describeCodes(FAILURE_CODES), '[All codes](../errors.md#failures-of-assets).'],
  [describeCodes(WARNING_CODES), '[All codes](../errors.md#warnings-about-assets).'],
];

function describeMember(member: Schema, isSometimesAbsent: boolean): string {
  const schema = withoutNull(member);
  const text = CODE_LISTS.reduce(
    (changed, [codes, link]) => changed.replace(codes, link),
    schema.description ?? '',
  );
  const limits = describeLimits(schema);
  if (text === '' && limits.length === 0 && !isSometimesAbsent) return describeExample(schema);
  const isAbsence = isSometimesAbsent && !/Absent|[Oo]nly/.test(text);
  return [text, ...limits, ...(isAbsence ? ['Not in every response.'] : [])].filter(Boolean).join(' ');
}

/** For a member whose name says everything. */
function describeExample({ examples = [], type }: Schema): string {
  const [example] = examples;
  return example === undefined || type === 'object' || type === 'array'
    ? ''
    : `For example ${code(example)}.`;
}

const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

/** What the description of a member need not repeat. */
function describeLimits(schema: Schema): readonly string[] {
  const { description = '', items } = schema;
  const values = schema.enum ?? items?.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const isTold = values.every((value) => description.includes(code(value)));
  return [
    ...(values.length === 0 || isTold ? [] : [describeValues(values)]),
    ...describeRange(schema.minLength, schema.maxLength, 'characters'),
    ...describeRange(schema.minItems, schema.maxItems, 'entries'),
    ...describeRange(schema.minimum, schema.maximum),
    ...(items ? describeRange(items.minLength, items.maxLength, 'characters each') : []),
    ...(schema.pattern === undefined ? [] : [`Pattern ${code(schema.pattern)}.`]),
    ...(schema.default === undefined ? [] : [`Default ${code(schema.default)}.`]),
  ];
}

const describeValues = (values: readonly unknown[]): string =>
  values.length === 1 ? `Always ${code(values[0])}.` : `One of ${values.map(code).join(', ')}.`;

/** A limit that no caller reaches is left out. */
function describeRange(
  low: number | undefined,
  high = Number.MAX_SAFE_INTEGER,
  unit = '',
): readonly string[] {
  const noun = unit === '' ? '' : ` ${unit}`;
  if (high >= 2 ** 31 - 1) return low !== undefined && low > 1 ? [`At least ${low}${noun}.`] : [];
  if (low === high) return [`${low}${noun}.`];
  return [low ? `${low} to ${high}${noun}.` : `At most ${high}${noun}.`];
}

/** A vertical bar would end the cell. */
export const renderTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [
    `| ${head.join(' | ')} |`,
    `|${'---|'.repeat(head.length)}`,
    ...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ].join('\n');

export const renderMembers = (rows: readonly MemberRow[]): string =>
  renderTable(
    ['Name', 'Type', 'Meaning'],
    rows.map(({ name, isRequired, type, meaning }) => [
      `\`${name}\`${isRequired ? ' **required**' : ''}`,
      type,
      meaning,
    ]),
  );
