// The guard of `/admin`: the operator key opens it, or a console session of an operator (contract B9).
import type { FastifyRequest } from 'fastify';
import { unauthorized } from '../platform/http/errors.ts';
import { headerValues } from '../platform/http/headers.ts';
import { type Guard, guarded, guardedBytes, type Input } from '../platform/http/route.ts';
import { isLoopbackHost } from '../platform/outbound/private-address.ts';
import type { AuthContext } from './context.ts';
import { isServiceKey, type Secret } from './secret.ts';
import { assertOperatorSession } from './sessions/console-sessions.ts';
import { readSessionToken } from './sessions/session-cookie.ts';

/** For routes without authentication that show more to operators. */
export const isOperator = (headers: Input['headers'], operatorKeys: readonly Secret[]): boolean => {
  const key = headers['x-operator-key'];
  return typeof key === 'string' && isServiceKey(key, operatorKeys);
};

const FIELD = { field: 'X-Operator-Key' } as const;

/** Throws UNAUTHORIZED. */
export function assertOperator(raw: FastifyRequest['raw'], operatorKeys: readonly Secret[]): void {
  const [key, ...more] = headerValues(raw, 'x-operator-key');
  if (!key)
    throw unauthorized('No operator key. Send "X-Operator-Key: <key>".', { reason: 'missing', ...FIELD });
  if (more.length > 0)
    throw unauthorized('X-Operator-Key was sent more than once', {
      reason: 'multiple_credentials',
      ...FIELD,
    });
  if (!isServiceKey(key, operatorKeys))
    throw unauthorized('The operator key is not valid', { reason: 'invalid_credential', ...FIELD });
}

/** Headers of proxies, of pages in a browser, and of callers with credentials. */
const REMOTE_HEADERS = [
  'authorization',
  'cookie',
  'origin',
  'x-service-key',
  'x-operator-key',
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** Throws UNAUTHORIZED. Requests from this machine need no key. */
export function assertMayScrape(raw: FastifyRequest['raw'], operatorKeys: readonly Secret[]): void {
  if (!isLocalRequest(raw)) assertOperator(raw, operatorKeys);
}

/**
 * True if the request comes from this machine itself, not through a proxy. A proxy may add no header, and a
 * page may resolve its own name to this machine: the Host header then has another name.
 */
function isLocalRequest({ socket, headers }: FastifyRequest['raw']): boolean {
  if (REMOTE_HEADERS.some((name) => headers[name] !== undefined)) return false;
  const url = `http://${headers.host ?? ''}`;
  const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  return isLoopbackHost(address) && URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
}

const guardOf = (ctx: AuthContext): Guard<undefined, object> => ({
  name: 'operator',
  identify: ({ raw }: FastifyRequest) => {
    const session = raw.headers['x-operator-key'] === undefined ? readSessionToken(raw.headers) : undefined;
    if (session !== undefined) return assertOperatorSession(ctx, session).then(() => undefined);
    assertOperator(raw, ctx.settings.operatorKeys);
    return undefined;
  },
  admit: () => ({}),
});

export const operatorGuard = (ctx: AuthContext) => guarded(guardOf(ctx));

/** As `operatorGuard`, for bytes. */
export const operatorBytesGuard = (ctx: AuthContext) => guardedBytes(guardOf(ctx));
