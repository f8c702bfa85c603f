// The first page of the reference: how to read it, its pages, and the errors of every request.
import { impliedErrors, statusOfCase } from '../openapi/implied-errors.ts';
import { createUpload } from '../operations/media.ts';
import { createWebhookEndpoint } from '../operations/webhook-endpoints.ts';
import { listProviders } from '../operations/admin/operators.ts';
import type { ErrorCase, Operation } from '../operation.ts';
import { renderCases } from './error-text.ts';
import type { ReferenceGroup } from './reference-pages.ts';
import { renderTable } from './schema-rows.ts';

const INTRODUCTION = [
  'Each page has the operations of one resource, with their parameters, examples, responses and errors.',
  'The examples are in curl and TypeScript.',
  'TypeScript calls the [client](../../packages/client/README.md), or `fetch` where it has no function.',
  'A running service shows the operations at `/docs`, and has them as OpenAPI at `/api/v1/openapi.json`.',
].join(' ');

const READING = [
  '## Before the first request\n',
  '- Send one credential: `Authorization: Bearer`, `X-Service-Key` or `X-Operator-Key` ' +
    '([authentication](../contract/authentication.md)).',
  '- The examples have an access token where a user may call. ' +
    'With a service key, name the owner where an operation lists `owner_user_id`.',
  '- Every JSON response has an [envelope](../contract/requests.md#envelope-a2). ' +
    'These pages show its `data`; the client returns it.',
  '- Lists return `items` and `next_cursor` ([lists](../contract/lists.md)). ' +
    'The client reads page after page.',
  '- The anchor of an operation is its id in OpenAPI: [`uploads.md#createUpload`](uploads.md#createUpload).',
  '- Providers call the service too: [webhooks of providers](../contract/webhooks.md).',
].join('\n');

const ABOUT_ERRORS =
  'Each operation lists its own errors, and the codes of this table that it can return. ' +
  '[All codes and reasons](../errors.md).';

export const renderIndex = (generated: string, groups: readonly ReferenceGroup[]): string =>
  [
    '# API reference',
    generated,
    INTRODUCTION,
    ...groups.map(renderGroup),
    READING,
    '## Errors of every request',
    ABOUT_ERRORS,
    renderCases(commonErrors()),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');

const renderGroup = ({ title, pages }: ReferenceGroup): string =>
  `## ${title}\n\n${renderTable(
    ['Page', 'Content'],
    pages.map((page) => [`[${page.title}](${page.name}.md)`, page.about]),
  )}`;

/** Those of one operation of each kind of caller. */
function commonErrors(): readonly ErrorCase[] {
  const all = [createUpload, createWebhookEndpoint, listProviders].flatMap((operation) =>
    impliedErrors(operation as unknown as Operation),
  );
  const distinct = new Map(all.map((each) => [`${each.code} ${each.when}`, each]));
  return [...distinct.values()].sort((one, other) => statusOfCase(one) - statusOfCase(other));
}
