// Guards routes that only callers with the service key may use (contract A4).
import { forbidden } from '../platform/http/errors.ts';
import { guarded } from '../platform/http/route.ts';
import type { createAuthenticator } from './auth.hook.ts';
import type { Caller } from './caller.ts';

/** Ignores an Idempotency-Key: its stored response could contain a secret in plain text. */
export const serviceGuard = (callerOf: ReturnType<typeof createAuthenticator>) =>
  guarded<undefined, object>({
    name: 'service',
    identify: (request) => {
      const caller = callerOf(request);
      return caller instanceof Promise ? caller.then(assertService) : assertService(caller);
    },
    admit: () => ({}),
  });

export type AsService = ReturnType<typeof serviceGuard>;

function assertService({ kind }: Caller): undefined {
  if (kind !== 'service') throw forbidden('This operation needs the service key: "X-Service-Key: <key>"');
}
