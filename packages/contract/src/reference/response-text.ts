// The response of an operation: what `data` is, with the example of the contract.
import type { Operation } from '../operation.ts';
import { EXAMPLE_ASSET } from '../schemas/assets/asset.ts';
import { renderJson } from './literal-text.ts';
import { isList, responseSchemaOf } from './object-pages.ts';
import { type LinkObject, listMembers, renderMembers, type Schema } from './schema-rows.ts';

/** Examples that readers find elsewhere, by the name of their object; `link` leads there. */
export type ShownExamples = Map<string, { readonly link: string; readonly example: unknown }>;

/** Every page refers to the one example of an asset. */
export const createShownExamples = (): ShownExamples =>
  new Map([['Asset', { link: '[the asset](asset.md#example)', example: EXAMPLE_ASSET }]]);

export const renderAssetExample = (): string => `## Example\n\n${renderBlock(EXAMPLE_ASSET)}`;

export function renderResponse(operation: Operation, link: LinkObject, shown: ShownExamples): string {
  const schema = responseSchemaOf(operation);
  if (!schema) return renderBytes(operation);
  const { event, json } = (operation.kind === 'bytes' && operation.response) || {};
  const example = operation.data ? operation.example : (json ?? event)?.example;
  const subject = event ? 'The `data` of each event is' : json ? 'The body is' : '`data` is';
  const status = (operation.kind === 'json' && operation.status) || 200;
  return [
    `**Response** \`${status}\``,
    `${subject} ${describeData(schema, link)}.`,
    ...renderInline(schema, link),
    ...renderExample(operation, { name: schema.$id ?? '', example, shown }),
    ...renderOthers(operation),
  ].join('\n\n');
}

function describeData(schema: Schema, link: LinkObject): string {
  const items = schema.properties?.['items']?.items;
  if (isList(schema) && items) return `a page: \`items\` is a list of ${nameOf(items, link)}`;
  return schema.$id === undefined ? 'an object with these members' : toPhrase(nameOf(schema, link));
}

const nameOf = ({ $id, type }: Schema, link: LinkObject): string =>
  ($id === undefined ? undefined : link($id)) ?? (type === 'object' ? 'objects' : `${$id ?? type}`);

const toPhrase = (name: string): string => `${/^\[[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;

/** Members that no table of an object has: those of a page, and of data without a name. */
function renderInline(schema: Schema, link: LinkObject): readonly string[] {
  if (!isList(schema))
    return schema.$id === undefined ? [renderMembers(listMembers(schema, link, false))] : [];
  const { items, next_cursor: _cursor, ...others } = schema.properties ?? {};
  const shown = items?.items?.$id === undefined && items ? { items, ...others } : others;
  const rows = listMembers({ ...schema, properties: shown }, link, false);
  return rows.length === 0 ? [] : [renderMembers(rows)];
}

type Example = { readonly name: string; readonly example: unknown; readonly shown: ShownExamples };

/** The same object again is its differences from the first example of the page. */
function renderExample(operation: Operation, { name, example, shown }: Example): readonly string[] {
  const first = shown.get(name);
  if (!first) {
    if (name !== '') shown.set(name, { link: `[${operation.summary}](#${operation.id})`, example });
    const short = shorten(example, true);
    const isShort = JSON.stringify(short) !== JSON.stringify(example);
    return [
      ...(isShort ? ['The asset in this example is shortened: [the whole asset](asset.md#example).'] : []),
      renderBlock(short),
    ];
  }
  const changed = differences(first.example, example);
  const same = `The example of ${first.link}`;
  return Object.keys(changed).length === 0 ? [`${same}.`] : [`${same}, with:`, renderBlock(changed)];
}

/** Assets inside of other objects, by the members that readers look for. */
function shorten(value: unknown, isOutermost = false): unknown {
  if (Array.isArray(value)) return value.map((item) => shorten(item));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value);
  const isAsset = !isOutermost && 'stream_status' in value && 'mime_type' in value;
  return Object.fromEntries(
    members
      .filter(([name]) => !isAsset || SHOWN_MEMBERS.includes(name))
      .map(([name, member]) => [name, shorten(member)]),
  );
}

const SHOWN_MEMBERS = ['id', 'kind', 'filename', 'visibility', 'stream_status', 'title', 'version'];

const renderBlock = (value: unknown): string => `\`\`\`json\n${renderJson(value)}\n\`\`\``;

const differences = (first: unknown, second: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(second as object).filter(
      ([name, value]) =>
        JSON.stringify(value) !== JSON.stringify((first as Readonly<Record<string, unknown>>)[name]),
    ),
  );

function renderBytes(operation: Operation): string {
  if (operation.kind !== 'bytes' || !operation.response)
    return ['**Response**', ...renderOthers(operation)].join('\n\n');
  const { mediaTypes, description, example } = operation.response;
  const types = mediaTypes.map((type) => `\`${type}\``).join(', ');
  return [
    '**Response** `200`',
    `${description.endsWith('.') ? description : `${description}.`} Media type: ${types}.`,
    ...(example === undefined ? [] : [`\`\`\`text\n${example.trimEnd()}\n\`\`\``]),
    ...renderOthers(operation),
  ].join('\n\n');
}

/** Responses without a body of their own, in one list. */
function renderOthers(operation: Operation): readonly string[] {
  const { otherResponses = {} } = operation.kind === 'bytes' ? operation : {};
  const lines = Object.entries(otherResponses).map(([status, text]) => `- \`${status}\`: ${text}`);
  const isEtagged = operation.kind === 'json' && operation.hasEtag;
  const all = [...lines, ...(isEtagged ? ['- `304`: Not modified.'] : [])];
  return all.length === 0 ? [] : [all.join('\n')];
}
