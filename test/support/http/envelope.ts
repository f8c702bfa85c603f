// What every answer must look like (contract A2), whichever door it left by.
import { expect } from 'vitest';
import { ERROR_CODES } from '@mediary/contract/errors';

export type Seen = { readonly status: number; readonly headers: Headers; readonly body: unknown };
type Envelope = {
  success: boolean;
  message: string;
  code: number;
  data: Record<string, unknown>;
  error?: { error_code: keyof typeof ERROR_CODES; details: Record<string, unknown> | null };
  request_id: string;
  timestamp: string;
};

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/**
 * Stacks, SQL, paths, library names: nothing that a caller should learn from an error; searched for in its
 * JSON.
 */
const CHATTY = new RegExp(
  [
    '\\\\n\\s+at ',
    'node:internal',
    'node_modules',
    '\\.ts:\\d',
    'fastify',
    'FST_ERR',
    'postgres',
    '\\bselect\\b.*\\bfrom\\b',
    '\\binsert into\\b',
    '/(?:tmp|var|home)/',
    'ENOENT',
    'EACCES',
    'ECONN',
  ].join('|'),
  'i',
);

/** A success or a refusal, whole and with nothing beside it. */
export function expectEnvelope({ status, headers, body }: Seen): Envelope {
  const envelope = (typeof body === 'string' ? JSON.parse(body) : body) as Envelope;
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(Object.keys(envelope).sort()).toEqual([
    'code',
    envelope.success ? 'data' : 'error',
    'message',
    'request_id',
    'success',
    'timestamp',
  ]);
  expect(envelope.success).toBe(status === 200);
  expect(envelope.code).toBe(status);
  expect(envelope.message).toMatch(/\S/);
  expect(envelope.request_id).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headers.get('x-request-id')).toBe(envelope.request_id);
  expect(envelope.timestamp).toMatch(ISO_UTC);
  return envelope;
}

/** The data of a success, which the OpenAPI document types as `T`. */
export function expectSuccess<T = Record<string, unknown>>(seen: Seen): T {
  expect(seen.status, JSON.stringify(seen.body)).toBe(200);
  return expectEnvelope(seen).data as T;
}

/** A refusal with this status, and the code that belongs to it. */
export function expectRefusal(
  seen: Seen,
  status: number,
): NonNullable<Envelope['error']> & { message: string } {
  expect(seen.status, JSON.stringify(seen.body)).toBe(status);
  const { error, message } = expectEnvelope(seen);
  expect(Object.keys(error ?? {}).sort()).toEqual(['details', 'error_code']);
  expect(ERROR_CODES[error?.error_code as keyof typeof ERROR_CODES].status).toBe(status);
  expect(JSON.stringify({ message, error })).not.toMatch(CHATTY);
  return { ...(error as NonNullable<Envelope['error']>), message };
}

/** A refusal that names this field. */
export const expectFieldRefused = (seen: Seen, field: string): void =>
  expect(expectRefusal(seen, 400).details).toMatchObject({ field });
