// Tells a database that cannot be reached (503, try again) from a statement that is wrong (500), and names broken unique rules.
import { isUnavailable, unavailable } from '../errors.ts';
import { diskFull } from '../free-space.ts';

/** SQLSTATE classes and codes of a server that is away, starting, stopping, full or too slow. */
const AWAY = /^(?:08|53|57)|^(?:25006|55P03|40001|40P01)$/;
const DISK_FULL = '53100';
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/** What `pg` says without a code. */
const WORDS =
  /timeout|Connection terminated|not queryable|Client has encountered a connection error|pool after calling end/i;

/** Rethrows as UNAVAILABLE what only says that the database is not there now; anything else as it is. */
export function throwUnavailable(error: unknown): never {
  if (isAway(error) && 'code' in error && error.code === DISK_FULL) throw diskFull('database', error);
  if (isAway(error)) throw unavailable('The database is not available', error);
  throw error;
}

/** Whether a statement failed because the database is away, told already or not. */
export const isDatabaseAway = (error: unknown): boolean => isUnavailable(error) || isAway(error);

function isAway(error: unknown): error is Error {
  if (!(error instanceof Error) || error.name === 'ServiceError') return false;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return AWAY.test(code) || NETWORK.has(code);
  return WORDS.test(error.message);
}

/** The name of the unique rule that a statement would have broken, if that is why it failed. */
export function findViolatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== '23505') return undefined;
  return 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : undefined;
}

/** The detail of an exception that one of our own functions raised under this code; undefined for any other error. */
export function raisedDetail(error: unknown, code: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== code) return undefined;
  return 'detail' in error && typeof error.detail === 'string' ? error.detail : '';
}
