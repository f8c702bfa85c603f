// Path, query and header parameters of an operation.
import type { TObject } from 'typebox';
import type { Operation, RequestHeader } from '../operation.ts';
import { type Components, withReferences } from './references.ts';

type PathParameter = { readonly description: string; readonly example: string };

const ASSET: PathParameter = {
  description: 'Id of the asset.',
  example: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e',
};

/** What `id` names, by the start of the path; elsewhere an asset. */
const IDS: Readonly<Record<string, PathParameter>> = {
  '/api/v1/collections/': {
    description: 'Id of the collection.',
    example: '019aab7c-9b1c-7d10-8a55-3c5e0f7a1b2d',
  },
  '/api/v1/webhook-endpoints/': {
    description: 'Id of the webhook endpoint.',
    example: '019aab7c-2222-7c55-9f0e-000000000001',
  },
  '/api/v1/admin/deliveries/': {
    description: 'Id of the delivery.',
    example: '019aab7c-5555-7c55-9f0e-000000000002',
  },
  '/api/v1/admin/checks/': {
    description: 'Id of the storage check.',
    example: '019aab7c-7777-7c55-9f0e-000000000003',
  },
  '/api/v1/admin/owners/': {
    description: 'Id of the erasure.',
    example: '019aab7c-7777-7c55-9f0e-000000000003',
  },
  '/api/v1/admin/jobs/': {
    description: 'Id of the job.',
    example: '6f4f0c0e-5a0b-4c8e-9b1d-3c2a1f0e9d8c',
  },
  '/api/v1/admin/workers/': {
    description: 'Id of the worker.',
    example: '0d3f5a1e-2b4c-4d6e-8f90-a1b2c3d4e5f6',
  },
  '/api/v1/admin/service-keys/': {
    description: 'Id of the service key.',
    example: '019aab7c-7777-7c55-9f0e-000000000003',
  },
};

const PATH_PARAMETERS: Readonly<Record<string, PathParameter>> = {
  token: { description: 'Playback token, as in the URLs of `getPlayback`.', example: '1795422000.Jq' },
  upload: {
    description: 'Id of the upload: the end of `Location`, or `uploadId`.',
    example: '6f1c2a52-8f0e-4d7e-9a41-0a3c4c6f7f10',
  },
  part: { description: 'Number of the part, from 1.', example: '1' },
  lang: { description: 'BCP 47 language tag.', example: 'en' },
  folder: { description: 'As the manifest names it.', example: '1-1' },
  version: { description: '`latest`, or a version that the embed page names.', example: 'latest' },
  key_id: { description: 'As the manifest names it.', example: '9c4f0b1de2a35768' },
  file: { description: 'As the manifest names it.', example: 'r0-00001.m4s' },
  delivery_id: {
    description: 'Id of a delivery to the webhook endpoint.',
    example: '019aab7c-7777-7c55-9f0e-000000000003',
  },
  owner_user_id: { description: 'Id of the owner.', example: 'user_42' },
  asset_id: ASSET,
};

export function findPathParameter(path: string, name: string): PathParameter | undefined {
  if (name !== 'id') return PATH_PARAMETERS[name];
  const start = Object.keys(IDS).find((each) => path.startsWith(each));
  return start === undefined ? ASSET : IDS[start];
}

/** `Accept` and `Content-Type` are not parameters in OpenAPI. */
export const HEADER_PARAMETERS: Readonly<
  Partial<Record<RequestHeader, { description: string; example?: string }>>
> = {
  'Idempotency-Key': {
    description:
      'Up to 255 visible ASCII characters. A repeated request with the same key returns the ' +
      'first response for a day.',
  },
  'If-Match': {
    description:
      'The `ETag` of the asset, or its `version` in quotes. If it has changed since, the response is 412.',
    example: '"3"',
  },
  'If-None-Match': {
    description: 'The `ETag` of a previous response. If it is still current, the response is 304.',
    example: '"7"',
  },
  'Last-Event-ID': {
    description: 'The `id` of the last event received; the stream resumes after it.',
    example: '7431-019aab7c-6b1e-7d02-8c4f-2a1b3c4d5e6f',
  },
  Range: { description: 'One byte range.', example: 'bytes=0-1023' },
  'X-Diagnostics-Token': {
    description: 'A token of the service itself, instead of the operator key.',
    example: '3kQ1xw',
  },
  'X-Upload-Ticket': {
    description: 'The `ticket` of the upload URL, where it is not in the query.',
    example: '1795400100.k3x',
  },
};

const text = { type: 'string' } as const;

const REQUEST_ID = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description: 'Up to 128 characters of `A-Za-z0-9._-`; returned in the response. Generated if missing.',
  schema: text,
} as const;

export const parametersOf = (operation: Operation, components: Components): object[] => [
  ...pathParameters(operation.path),
  ...(operation.query ? queryParameters(operation.query, components) : []),
  ...(operation.requestHeaders ?? []).flatMap((name) => headerParameter(name)),
  ...(operation.signatureHeaders ?? []).map(signatureParameter),
  ...(operation.kind === 'json' ? [REQUEST_ID] : []),
];

/** The names in braces of a path such as `/media/{id}`. */
export const listPathNames = (path: string): string[] =>
  Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name);

const signatureParameter = (name: string, _: number, all: readonly string[]): object => ({
  name,
  in: 'header',
  required: all.length === 1,
  description:
    all.length === 1
      ? 'The signature of the body.'
      : `The signature of the body, in one of ${all.join(', ')}.`,
  schema: text,
});

const pathParameters = (path: string): object[] =>
  listPathNames(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: text,
    ...findPathParameter(path, name),
  }));

/** A parameter with a default is optional, although the parsed query always contains it. */
function queryParameters(query: TObject, components: Components): object[] {
  const required = new Set(query.required ?? []);
  return Object.entries(query.properties).map(([name, schema]) => {
    const { description, ...rest } = withReferences(schema, components);
    return {
      name,
      in: 'query',
      required: required.has(name) && !('default' in rest),
      ...(description !== undefined && { description }),
      // As in `metadata[order_id]=1042`.
      ...('type' in rest && rest.type === 'object' && { style: 'deepObject', explode: true }),
      schema: Object.keys(rest).length > 0 ? rest : {},
    };
  });
}

function headerParameter(name: RequestHeader): object[] {
  const known = HEADER_PARAMETERS[name];
  return known ? [{ name, in: 'header', required: false, schema: text, ...known }] : [];
}
