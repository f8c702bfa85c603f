// The example request of an operation in TypeScript: a call of the SDK, or `fetch`.
import type { Operation } from '../operation.ts';
import { renderLiteral } from './literal-text.ts';
import { type Credential, type ExampleRequest, toQueryText } from './request-example.ts';

/**
 * A function of the SDK and where its arguments come from: a path parameter, `body`, `query`, `file` (with
 * the query as its options), a member as in `body.asset_ids`, or the others as in `body without asset_ids`.
 */
export type SdkCall = { readonly name: string; readonly arguments: readonly string[] };

const COLUMNS = 80;

type Members = Readonly<Record<string, unknown>>;

export function renderTypeScript(
  operation: Operation,
  example: ExampleRequest,
  call: SdkCall | undefined,
): string {
  return call ? renderCall(operation, example, call) : renderFetch(operation, example);
}

function renderCall(operation: Operation, example: ExampleRequest, call: SdkCall): string {
  const owner = example.body?.['owner_user_id'] ?? example.query['owner_user_id'];
  const client = example.credential === 'service key' ? 'backEnd' : 'mediary';
  const target = owner === undefined ? client : `${client}.forOwner(${renderLiteral(owner)})`;
  const values = call.arguments.map((source) => renderArgument(source, example));
  while (values.at(-1) === '{}') values.pop();
  const called = `${target}.${call.name}(${values.join(', ')})`;
  const { result, isLoop } = describeResult(operation);
  if (!isLoop) return `const ${result} = await ${called};`;
  return [`for await (const ${result} of ${called}) {`, `  console.log(${result});`, '}'].join('\n');
}

function renderArgument(source: string, { body = {}, ...example }: ExampleRequest): string {
  const { owner_user_id: _inBody, ...members } = body;
  const { owner_user_id: _inQuery, ...query } = example.query;
  if (source === 'body') return renderLiteral(members);
  if (source === 'query') return renderLiteral(query);
  if (source === 'file') return renderFile(example.file ?? '', query);
  const [, member, isRest, left] = /^body(?:\.(\w+)|( without )(\w+))$/.exec(source) ?? [];
  if (member !== undefined) return renderLiteral(members[member]);
  if (isRest !== undefined) return renderLiteral(omit(members, left ?? ''));
  return renderLiteral(example.pathParameters[source]);
}

const renderFile = (file: string, options: Members): string => {
  const rest = Object.entries(options).map(([name, value]) => `  ${name}: ${renderLiteral(value)},\n`);
  return `{\n  text: await openAsBlob(${renderLiteral(file)}),\n${rest.join('')}}`;
};

const omit = (members: Members, name: string): Members =>
  Object.fromEntries(Object.entries(members).filter(([each]) => each !== name));

type Schema = {
  readonly $id?: string;
  readonly required?: readonly string[];
  readonly properties?: { readonly items?: { readonly items?: Schema } };
};

/** The name of what a call returns. A list is read entry by entry, and a stream event by event. */
function describeResult(operation: Operation): { result: string; isLoop: boolean } {
  if (operation.kind === 'bytes' && operation.response?.event) return { result: 'event', isLoop: true };
  const { $id, required = [], properties } = (operation.data ?? {}) as Schema;
  if (required.includes('next_cursor'))
    return { result: toVariable(properties?.items?.items?.$id ?? 'Entry'), isLoop: true };
  return { result: toVariable($id ?? 'Text'), isLoop: false };
}

const toVariable = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

const CREDENTIALS: Readonly<Record<Credential, string>> = {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the rendered program
  token: 'Authorization: `Bearer ${token}`',
  'service key': "'X-Service-Key': serviceKey",
  'operator key': "'X-Operator-Key': operatorKey",
};

function renderFetch(operation: Operation, example: ExampleRequest): string {
  const { method, path, query, headers, credential, body, file } = example;
  const text = toQueryText(query);
  const sent = [
    ...(credential ? [CREDENTIALS[credential]] : []),
    ...Object.entries(headers).map(([name, value]) => renderLiteral({ [name]: value }).slice(2, -2)),
    ...(body ? ["'Content-Type': 'application/json'"] : []),
  ];
  const members = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(sent.length > 0 ? [`headers: ${renderHeaders(sent)}`] : []),
    ...(body ? [`body: JSON.stringify(${renderLiteral(body)})`] : []),
    ...(file ? [`body: await openAsBlob(${renderLiteral(file)})`] : []),
  ];
  const init = members.map((member) => `  ${member.replaceAll('\n', '\n  ')},\n`).join('');
  return [
    `const url = \`\${baseUrl}${path}${text === '' ? '' : `?${text}`}\`;`,
    `const response = await fetch(url${init === '' ? '' : `, {\n${init}}`});`,
    ...renderReading(operation, example),
  ].join('\n');
}

function renderHeaders(headers: readonly string[]): string {
  const line = `{ ${headers.join(', ')} }`;
  return line.length <= COLUMNS ? line : `{\n${headers.map((header) => `  ${header},\n`).join('')}}`;
}

function renderReading(operation: Operation, { output }: ExampleRequest): readonly string[] {
  if (operation.data) return ['const { data } = await response.json();'];
  if (output) return ['const bytes = await response.arrayBuffer();'];
  if (operation.kind === 'bytes' && operation.response?.json)
    return [
      `const ${toVariable((operation.response.json.data as Schema).$id ?? 'Data')} = await response.json();`,
    ];
  if (operation.kind === 'bytes' && operation.response) return ['const text = await response.text();'];
  return ['console.log(response.status, response.headers);'];
}
