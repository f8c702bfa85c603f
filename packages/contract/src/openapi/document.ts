// Renders the OpenAPI 3.1 document from the operations.
import type { Auth, Operation, Tag } from '../operation.ts';
import { INTRODUCTION } from './introduction.ts';
import { parametersOf } from './parameters.ts';
import { renderWebhooks } from './published-webhooks.ts';
import { type Components, type JsonSchema, withReferences } from './references.ts';
import { binary, responsesOf, sharedResponses } from './responses.ts';

type DocumentOptions = {
  /** Origin without a trailing slash, `https://media.example.com`. */
  readonly server: string;
  /** Names of the registered providers. */
  readonly providers: readonly string[];
  readonly version: string;
  /** Whether the server has the guides at `/docs/guides`. */
  readonly hasGuides?: boolean;
};

/** In the order of the documentation. */
const TAGS: Readonly<Record<Tag, string>> = {
  Uploads: 'Open an upload, send the bytes, complete it.',
  Assets: 'List, read, edit, delete and restore assets.',
  Playback: 'URLs for players and downloads.',
  Events: 'Follow assets live, instead of polling.',
  Collections: 'Put assets into named, ordered lists, and play these.',
  Captions: 'Add captions to videos, before or after encoding.',
  Webhooks: 'Where the service sends events. For back ends with the service key.',
  'Resumable uploads (tus)': 'What tus clients call; you need not call it yourself.',
  'Multipart uploads (S3)': 'Large files in parts, straight to an S3 store.',
  'Provider callbacks': 'Where video providers and encoders report. Signed by the provider.',
  Console: 'How people sign in to the console at `/console`.',
  Operators: 'For the people who run the service.',
  Service: 'Health checks.',
  'Player files': 'What players request: manifests, segments, images and pages. The API returns their URLs.',
};

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'HS256 access token with the claims `user_id` and `type` = `access`. The user owns what it creates. ' +
      'Where the operator configures an identity provider, also its RS256 and ES256 access tokens.',
  },
  serviceKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Key',
    description:
      'A trusted back end. It names the owner in `owner_user_id` and skips ownership checks. ' +
      'A named key (`msk_…`) may be limited to scopes and owners.',
  },
  operatorKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Operator-Key',
    description: 'An operator of the service.',
  },
} as const;

const SECURITY: Readonly<Record<Auth, readonly object[]>> = {
  caller: [{ bearer: [] }, { serviceKey: [] }],
  service: [{ serviceKey: [] }],
  operator: [{ operatorKey: [] }],
  viewer: [{}, { bearer: [] }, { serviceKey: [] }],
  ticket: [],
  playback: [],
  webhook: [],
  none: [],
};

export function renderOpenApi(
  operations: readonly Operation[],
  { server, providers, version, hasGuides = false }: DocumentOptions,
): JsonSchema {
  const components: Components = new Map();
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: operationObject(operation, components) };
  }
  const webhooks = renderWebhooks(components);
  const responses = sharedResponses(components);
  const names = components.get('ProviderName');
  if (names)
    components.set('ProviderName', { ...names, enum: [...providers], examples: providers.slice(0, 1) });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mediary',
      version,
      description: INTRODUCTION,
      contact: { name: 'Mediary' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    ...(hasGuides && { externalDocs: { url: `${server}/docs/guides/`, description: 'Guides' } }),
    servers: [{ url: server }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      responses,
      schemas: Object.fromEntries([...components].sort(([a], [b]) => a.localeCompare(b))),
    },
  };
}

function operationObject(operation: Operation, components: Components): object {
  const body = requestBody(operation, components);
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description ?? `${operation.summary}.`,
    security: SECURITY[operation.auth],
    parameters: parametersOf(operation, components),
    ...(body && { requestBody: body }),
    responses: responsesOf(operation, components),
  };
}

function requestBody(operation: Operation, components: Components): object | undefined {
  if (operation.kind === 'json') {
    if (!operation.body) return undefined;
    return {
      required: operation.isBodyRequired === true,
      content: { 'application/json': { schema: withReferences(operation.body, components) } },
    };
  }
  if (operation.jsonBody)
    return {
      required: true,
      content: { 'application/json': { schema: withReferences(operation.jsonBody, components) } },
    };
  return (
    operation.body && {
      required: true,
      description: operation.body.description,
      content: binary(operation.body.mediaTypes, operation.body.example),
    }
  );
}
