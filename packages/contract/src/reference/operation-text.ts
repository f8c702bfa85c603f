// One operation of a page: who may call it, its parameters, an example, the response and the errors.
import { HEADER_PARAMETERS, findPathParameter, listPathNames } from '../openapi/parameters.ts';
import { type Auth, type Operation, scopeOf } from '../operation.ts';
import { renderCurl } from './curl-text.ts';
import { renderErrors } from './error-text.ts';
import { buildExampleRequest, findAuth } from './request-example.ts';
import { renderResponse, type ShownExamples } from './response-text.ts';
import { type LinkObject, listMembers, type MemberRow, renderMembers, type Schema } from './schema-rows.ts';
import { renderTypeScript, type SdkCall } from './typescript-text.ts';

export type PageContext = {
  readonly link: LinkObject;
  readonly shown: ShownExamples;
  readonly findCall: (operationId: string) => SdkCall | undefined;
};

export const renderOperation = (operation: Operation, context: PageContext): string =>
  [
    `<a id="${operation.id}"></a>`,
    `## ${operation.summary}`,
    `\`${operation.method} ${operation.path}\``,
    operation.description ?? `${operation.summary}.`,
    `**Who may call it:** ${describeCaller(operation)}`,
    ...renderParameters(operation, context.link),
    renderTabs(operation, context),
    renderResponse(operation, context.link, context.shown),
    renderErrors(operation),
  ].join('\n\n');

const CALLERS: Readonly<Record<Auth, string>> = {
  caller: 'a user with an access token, or a service key',
  service: 'a service key',
  operator: 'an operator with the operator key',
  ticket: 'the holder of the signed URL, without other credentials',
  playback: 'anybody for a public asset; for a private one the holder of a playback URL',
  viewer: 'anybody for a public collection; for a private one its owner, or a service key',
  webhook: 'the provider, with its signature',
  none: 'anybody, without credentials',
};

function describeCaller(operation: Operation): string {
  const auth = findAuth(operation);
  const hasScope = auth === 'caller' || auth === 'service';
  const scope = hasScope ? ` with the scope \`${scopeOf(operation)}\`` : '';
  const token = operation.acceptsUploadTokens ? ' An [upload token](upload-tokens.md) too.' : '';
  const ticket = operation.acceptsEventTickets ? ' An [event ticket](events.md#createEventTicket) too.' : '';
  return `${CALLERS[auth]}${scope}.${token}${ticket}`;
}

function renderParameters(operation: Operation, link: LinkObject): readonly string[] {
  const { query, path, requestHeaders = [] } = operation;
  const inPath = listPathNames(path).map((name) => ({
    name,
    isRequired: true,
    type: 'in the path',
    meaning: findPathParameter(path, name)?.description ?? '',
  }));
  const inQuery = query ? listMembers(query as Schema, link, true) : [];
  const headers = requestHeaders.map((name) => ({
    name,
    isRequired: false,
    type: 'header',
    meaning: HEADER_PARAMETERS[name]?.description ?? OWN_HEADERS[name] ?? '',
  }));
  const body = operation.kind === 'json' ? (operation.body as Schema | undefined) : undefined;
  return [
    ...renderSection('**Parameters**', [...inPath, ...inQuery, ...headers]),
    ...renderSection('**Body**', body ? listMembers(body, link, true) : []),
    ...(operation.kind === 'bytes' && operation.body ? [`**Body:** ${describeBytes(operation.body)}`] : []),
  ];
}

/** Headers that OpenAPI does not list as parameters. */
const OWN_HEADERS: Readonly<Partial<Record<string, string>>> = {
  Accept: 'The formats that the viewer can show.',
  'Content-Type': 'The media type of the body.',
  'X-Mediary-Console': 'Always `1`.',
};

const renderSection = (title: string, rows: readonly MemberRow[]): readonly string[] =>
  rows.length === 0 ? [] : [title, renderMembers(rows)];

const describeBytes = ({
  description,
  mediaTypes,
}: {
  readonly description: string;
  readonly mediaTypes: readonly string[];
}): string => {
  const sentence = description.endsWith('.') ? description : `${description}.`;
  return `${sentence} Media type: ${mediaTypes.map((type) => `\`${type}\``).join(', ')}.`;
};

/** Two blocks with these labels become tabs on the site. */
function renderTabs(operation: Operation, { findCall }: PageContext): string {
  const example = buildExampleRequest(operation);
  const program = renderTypeScript(operation, example, findCall(operation.id));
  return `\`\`\`sh [curl]\n${renderCurl(example)}\n\`\`\`\n\n\`\`\`ts [TypeScript]\n${program}\n\`\`\``;
}
