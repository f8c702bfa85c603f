// Classifies database errors: unavailable (503, retry later), violated unique constraint, or a defect (500).
import { isUnavailable, unavailable } from '../http/errors.ts';
import { diskFull } from '../disk/free-space.ts';

/**
 * SQLSTATE classes and codes of a server that is unreachable, starting, stopping, full or too slow, or that
 * ended a transaction because this process was frozen.
 */
const UNAVAILABLE_CODES = /^(?:08|53|57)|^(?:25006|25P03|25P04|55P03|40001|40P01)$/;
const DISK_FULL = '53100';
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/** Messages of `pg` errors that have no code. */
const UNAVAILABLE_MESSAGES = new RegExp(
  [
    'timeout',
    'connection terminated',
    'not queryable',
    'client has encountered a connection error',
    'pool after calling end',
  ].join('|'),
  'i',
);

/** Rethrows connection errors and timeouts as UNAVAILABLE, and any other error unchanged. */
export function throwUnavailable(error: unknown): never {
  if (isConnectionError(error) && 'code' in error && error.code === DISK_FULL)
    throw diskFull('database', error);
  if (isConnectionError(error)) throw unavailable('The database is not available', error);
  throw error;
}

/** True when a statement failed because the database is unavailable, before or after `throwUnavailable`. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  isUnavailable(error) || isConnectionError(error);

/** Codes and messages of errors that affect all connections to the server. */
const LOST_CODES = /^(?:08|57P0[1-3])|^25006$/;
const LOST_MESSAGES = /connection terminated|not queryable|client has encountered a connection error/i;

/** True when the server ended the connection, or became a standby. A timeout may be that of one statement. */
export function isConnectionLost(error: Error): boolean {
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return LOST_CODES.test(code) || NETWORK_CODES.has(code);
  return LOST_MESSAGES.test(error.message);
}

/**
 * True when the server refused a statement by an ERROR: its connection takes the next one. A connection that
 * is dropped instead needs a new one, and on a full disk there may be none.
 */
export function isStatementRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (!('severity' in error)) return isStatementRefused(error.cause);
  return error.severity === 'ERROR' && !isConnectionLost(error);
}

function isConnectionError(error: unknown): error is Error {
  if (!(error instanceof Error) || error.name === 'ServiceError') return false;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return UNAVAILABLE_CODES.test(code) || NETWORK_CODES.has(code);
  return UNAVAILABLE_MESSAGES.test(error.message);
}

/** The name of the violated unique constraint; undefined for any other error. */
export function findViolatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== '23505') return undefined;
  return 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined;
}

/**
 * The DETAIL of an exception that a trigger of our migrations raised with this SQLSTATE; undefined for any
 * other error.
 */
export function findRaisedDetail(error: unknown, code: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== code) return undefined;
  return 'detail' in error && typeof error.detail === 'string' ? error.detail : '';
}
