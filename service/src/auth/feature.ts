// Authentication: who sends a request, and the named keys of services.
import { offer } from '../platform/values/offer.ts';
import { createAuthenticator } from './auth.hook.ts';
import type { AuthContext } from './context.ts';
import { operatorBytesGuard, operatorGuard } from './operator.hook.ts';
import { createSignInLink, deleteEndedSessions } from './sessions/console-sessions.ts';
import { consoleSessionRoutes } from './sessions/console-sessions.routes.ts';
import { createEventTicket } from './tickets/event-tickets.ts';
import { serviceGuard } from './service.hook.ts';
import { createServiceKeyLookup } from './keys/service-key-lookup.ts';
import { serviceKeyRoutes } from './keys/service-keys.routes.ts';
import {
  assertReadableByToken,
  createUploadToken,
  deleteOldUploadTokens,
  recordUploadOfToken,
} from './tickets/upload-tokens.ts';

export type Auth = ReturnType<typeof createAuth>['operations'];

export function createAuth(outer: Omit<AuthContext, 'namedKeys'>) {
  const namedKeys = createServiceKeyLookup(outer, () => performance.now());
  const ctx: AuthContext = { ...outer, namedKeys };
  const asOperator = operatorGuard(ctx);
  const callerOf = createAuthenticator(ctx);
  return {
    operations: {
      callerOf,
      asService: serviceGuard(callerOf),
      asOperator,
      asOperatorBytes: operatorBytesGuard(ctx),
      ...offer(ctx, {
        createEventTicket,
        createUploadToken,
        assertReadableByToken,
        deleteOldUploadTokens,
        deleteEndedSessions,
        createSignInLink,
      }),
      recordUploadOfToken,
    },
    routes: [
      ...serviceKeyRoutes(ctx, asOperator),
      ...(ctx.settings.console === 'on' ? consoleSessionRoutes(ctx, asOperator) : []),
    ],
    jobs: {},
  };
}
