// Responses of an operation: the envelope, bytes, and every way in which it fails.
import { ERROR_REASONS } from '../errors.ts';
import type { ErrorCase, Operation } from '../operation.ts';
import { ErrorEnvelope, UnauthorizedEnvelope } from './error-schemas.ts';
import { impliedErrors, SHARED_ERRORS, sharedName, statusOfCase } from './implied-errors.ts';
import { type Components, type JsonSchema, withReferences } from './references.ts';

const EXAMPLE_ID = 'req_8f2b1c';
const EXAMPLE_TIME = '2026-11-22T10:16:12.000Z';

const RESPONSE_HEADERS = {
  'X-Request-Id': { description: 'Identifies the request in the log.', schema: { type: 'string' } },
  ETag: { description: 'Changes with every change of the resource.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
  'WWW-Authenticate': {
    description: '`Bearer`, with the error where a token was sent.',
    schema: { type: 'string' },
  },
  Location: { description: 'Where to go instead.', schema: { type: 'string' } },
  'Content-Range': {
    description: '`bytes <first>-<last>/<size>`.',
    schema: { type: 'string' },
    example: 'bytes 0-1023/65536',
  },
  RateLimit: {
    description: '`"<policy>";r=<remaining requests>;t=<seconds until all are available>`.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: '`"<policy>";q=<requests>;w=<seconds>`.',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: '`true` where this is the stored response of an earlier request with the same key.',
    schema: { type: 'string' },
  },
} as const;

const headers = (...names: (keyof typeof RESPONSE_HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, RESPONSE_HEADERS[name]]));

export function responsesOf(operation: Operation, components: Components): JsonSchema {
  const success = successOf(operation, components);
  return { ...success, ...othersOf(operation, success[200]), ...errorsOf(operation, components) };
}

/** Headers that only this operation has. */
function ownHeaders(operation: Operation): object {
  const { responseHeaders = {} } = operation.kind === 'bytes' ? operation : {};
  return Object.fromEntries(
    Object.entries(responseHeaders).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}

type SuccessResponse = { readonly description: string; readonly headers: object; readonly content?: object };
type SuccessResponses = Readonly<Record<number, SuccessResponse>>;

function successOf(operation: Operation, components: Components): SuccessResponses {
  if (operation.data) {
    const isEtagged = operation.kind === 'json' && operation.hasEtag === true;
    const isRepeatable = operation.requestHeaders?.includes('Idempotency-Key') === true;
    const message = operation.message ?? 'OK';
    const status = (operation.kind === 'json' && operation.status) || 200;
    const content = {
      'application/json': {
        schema: envelope(status, withReferences(operation.data, components)),
        example: {
          success: true,
          message,
          code: status,
          data: operation.example,
          request_id: EXAMPLE_ID,
          timestamp: EXAMPLE_TIME,
        },
      },
    };
    return {
      [status]: {
        description: status === 202 ? 'Accepted.' : 'Success.',
        headers: {
          ...headers(
            'X-Request-Id',
            ...(isEtagged ? (['ETag'] as const) : []),
            ...(isRepeatable ? (['Idempotency-Replayed'] as const) : []),
          ),
          ...ownHeaders(operation),
        },
        content,
      },
      ...(isEtagged && { 304: { description: 'Not modified.', headers: headers('X-Request-Id', 'ETag') } }),
    };
  }
  if (operation.kind === 'bytes' && !operation.response) return {};
  const { response } = operation.kind === 'bytes' ? operation : {};
  const { mediaTypes = [], description = 'The bytes.', event, json } = response ?? {};
  return {
    200: {
      description,
      headers: { ...headers('X-Request-Id', 'ETag'), ...ownHeaders(operation) },
      content: event
        ? eventStream(event, components)
        : json
          ? plainJson(json, components)
          : binary(mediaTypes),
    },
  };
}

/** OpenAPI 3.1 describes the stream as a text, whose content schema is that of `data`. */
const eventStream = ({ data, example }: { data: unknown; example: unknown }, components: Components) => ({
  'text/event-stream': {
    schema: {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: withReferences(data, components),
    },
    example: `id: ${EXAMPLE_POSITION}\nevent: asset.ready\ndata: ${JSON.stringify(example)}\n\n`,
  },
});

const plainJson = ({ data, example }: { data: unknown; example: unknown }, components: Components) => ({
  'application/json': { schema: withReferences(data, components), example },
});

const EXAMPLE_POSITION = '7431-019aab7c-6b1e-7d02-8c4f-2a1b3c4d5e6f';

export const binary = (mediaTypes: readonly string[], example?: string): object => {
  const content = { schema: { type: 'string', format: 'binary' }, ...(example !== undefined && { example }) };
  return Object.fromEntries(mediaTypes.map((type) => [type, content]));
};

const envelope = (status: number, data: JsonSchema): JsonSchema => ({
  type: 'object',
  required: ['success', 'message', 'code', 'data', 'request_id', 'timestamp'],
  properties: {
    success: { type: 'boolean', const: true },
    message: { type: 'string' },
    code: { type: 'integer', const: status },
    data,
    request_id: { type: 'string' },
    timestamp: { type: 'string', format: 'date-time' },
  },
});

function othersOf(operation: Operation, whole: SuccessResponse | undefined): object {
  const { otherResponses = {} } = operation.kind === 'bytes' ? operation : {};
  const parts: Readonly<Record<string, object>> = {
    206: { ...whole, headers: { ...whole?.headers, ...headers('Content-Range') } },
    302: { headers: headers('Location') },
  };
  return Object.fromEntries(
    Object.entries(otherResponses).map(([status, description]) => [
      status,
      { ...parts[status], description },
    ]),
  );
}

/** A status with implied errors only refers to a shared component. */
function errorsOf(operation: Operation, components: Components): object {
  const implied = Map.groupBy(impliedErrors(operation), statusOfCase);
  const own = Map.groupBy(operation.errors ?? [], statusOfCase);
  const statuses = [...new Set([...implied.keys(), ...own.keys()])].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const cases = [...(own.get(status) ?? []), ...(implied.get(status) ?? [])];
      const name = own.has(status) ? undefined : sharedName(operation.auth, status);
      return [status, name ? { $ref: `#/components/responses/${name}` } : errorResponse(cases, components)];
    }),
  );
}

/** `components.responses`. */
export const sharedResponses = (components: Components): JsonSchema =>
  Object.fromEntries(
    Object.entries(SHARED_ERRORS).map(([name, cases]) => [name, errorResponse(cases, components)]),
  );

function errorResponse(cases: readonly ErrorCase[], components: Components): object {
  const status = statusOfCase(cases[0] as ErrorCase);
  const isRetryable = status === 429 || status === 503;
  return {
    description: cases.map(({ when }) => when).join(' '),
    headers: headers(
      'X-Request-Id',
      ...(isRetryable ? (['Retry-After'] as const) : []),
      ...(status === 429 ? (['RateLimit', 'RateLimit-Policy'] as const) : []),
      ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
    ),
    content: {
      'application/json': {
        schema: withReferences(status === 401 ? UnauthorizedEnvelope : ErrorEnvelope, components),
        examples: Object.fromEntries(
          cases.map((each, index) => [each.reason ?? nameCase(each, index), exampleOf(each, status)]),
        ),
      },
    },
  };
}

/** `You do not own this asset.` → `you_do_not_own_this`. */
const nameCase = ({ when }: ErrorCase, index: number): string =>
  when
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .split(' ')
    .slice(0, 5)
    .join('_') || `case_${index + 1}`;

const exampleOf = ({ code, reason, when }: ErrorCase, status: number): object => ({
  summary: when,
  value: {
    success: false,
    message: reason ? ERROR_REASONS[reason].description : when,
    code: status,
    error: { error_code: code, details: reason ? { reason } : null },
    request_id: EXAMPLE_ID,
    timestamp: EXAMPLE_TIME,
  },
});
