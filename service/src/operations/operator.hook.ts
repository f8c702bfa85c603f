// The guard of `/admin`: only the operator key opens it (contract B9).
import type { FastifyRequest } from 'fastify';
import { type Secret, isServiceKey } from '../auth/secret.ts';
import { unauthorized } from '../platform/http/errors.ts';
import { headerValues } from '../platform/http/headers.ts';
import { guarded, type Input } from '../platform/http/route.ts';

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

export const operatorGuard = (operatorKeys: readonly Secret[]) =>
  guarded<undefined, object>({
    name: 'operator',
    identify: ({ raw }: FastifyRequest) => {
      assertOperator(raw, operatorKeys);
      return undefined;
    },
    admit: () => ({}),
  });
