// Writes routes into the OpenAPI document, from the same schemas that validate.
import type { RouteShorthandOptions } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { UNAUTHORIZED_REASONS } from '../errors.ts';
import type { JsonRoute, RawRoute } from './route.ts';

type Described = NonNullable<RouteShorthandOptions['schema']> & Record<string, unknown>;

export function describeJson(
  tag: string,
  { method, guard, summary, query, body, answer, errors, etag, url, rateClass }: JsonRoute,
): Described {
  const statuses = [
    ...new Set([
      ...(guard.security.length > 0 ? [401] : []),
      ...(query || body ? [400] : []),
      ...(body ? [413] : []),
      ...errors,
      ...(rateClass ? [] : [429]),
      500,
      503,
    ]),
  ];
  return {
    tags: [tag],
    summary,
    operationId: operationOf(method, url),
    ...pathOf(url),
    ...(query && { querystring: query }),
    ...(body && { body }),
    ...(guard.security.length > 0 && { security: guard.security.map((name) => ({ [name]: [] })) }),
    response: {
      200: envelopeOf(answer),
      ...(etag && { 304: { description: 'Not changed', type: 'null' } }),
      ...Object.fromEntries(statuses.sort().map((status) => [status, errorOf(status)])),
    },
  };
}

export function describeRaw(
  tag: string,
  { method, summary, query, answers, answer, url, rateClass }: RawRoute,
): Described {
  const limited = rateClass ? {} : { 429: 'Too many requests of this address or owner' };
  const response = Object.entries({ ...answers, ...limited }).map(([status, description]) => [
    status,
    { ...rawAnswerOf(Number(status), answer), description },
  ]);
  return {
    tags: [tag],
    summary,
    operationId: operationOf(method, url),
    ...pathOf(url),
    ...(query && { querystring: query }),
    response: Object.fromEntries(response),
  };
}

/** What generated clients call it: `postMediaUploadUrl`, `getMediaById`. */
const operationOf = (method: string, url: string): string =>
  method.toLowerCase() +
  url
    .replace(/:(\w+)/g, 'by-$1')
    .replace(/\*/g, 'file')
    .replace(/[^A-Za-z0-9]+([A-Za-z0-9]?)/g, (_all, letter: string) => letter.toUpperCase());

function rawAnswerOf(status: number, answer: TSchema | undefined): object {
  if (status === 200 && answer) return envelopeOf(answer);
  return status >= 400 && status !== 416 ? errorOf(status) : { type: 'null' };
}

/** Path parameters are text; whether they name anything is the guard's question (404), not validation's (400). */
function pathOf(url: string): { params?: TSchema } {
  const names = [...url.matchAll(/:(\w+)|\*/g)].map(([all, name]) => name ?? all);
  return names.length > 0
    ? { params: Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()]))) }
    : {};
}

const envelopeOf = (data: TSchema): TSchema =>
  Type.Object(
    {
      success: Type.Literal(true),
      message: Type.String(),
      code: Type.Literal(200),
      data,
      request_id: Type.String(),
      timestamp: Type.String({ format: 'date-time' }),
    },
    { description: 'Success' },
  );

const errorEnvelopeOf = (details: TSchema, description: string): TSchema =>
  Type.Object(
    {
      success: Type.Literal(false),
      message: Type.String(),
      code: Type.Integer(),
      error: Type.Object({ error_code: Type.String(), details }),
      request_id: Type.String(),
      timestamp: Type.String({ format: 'date-time' }),
    },
    { description },
  );

const ERROR = errorEnvelopeOf(
  Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
  'Refusal',
);

const HEADERS_429 = {
  'Retry-After': { type: 'integer', description: 'Seconds until the next request is taken' },
  RateLimit: { type: 'string', description: '`"<policy>";r=<remaining>;t=<seconds until all are free>`' },
  'RateLimit-Policy': { type: 'string', description: '`"<policy>";q=<requests>;w=<seconds>`' },
};

const REASONS = Object.entries(UNAUTHORIZED_REASONS);
/** `details.reason` of a 401 is a fixed list, with the meaning of each. */
const UNAUTHORIZED = errorEnvelopeOf(
  Type.Object(
    {
      reason: Type.Enum(
        REASONS.map(([reason]) => reason),
        { description: REASONS.map(([reason, meaning]) => `\`${reason}\`: ${meaning}.`).join(' ') },
      ),
    },
    { additionalProperties: true },
  ),
  'No valid credential; `details.reason` says why. Routes that accept a bearer token answer with a `WWW-Authenticate: Bearer` header',
);

function errorOf(status: number): object {
  if (status === 401) return UNAUTHORIZED;
  return status === 429 ? { ...ERROR, headers: HEADERS_429 } : ERROR;
}
