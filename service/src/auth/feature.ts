// Authentication: who sends a request, and the named keys of services.
import { offer } from '../platform/values/offer.ts';
import { createAuthenticator } from './auth.hook.ts';
import type { AuthContext } from './context.ts';
import { createEventTicket } from './tickets/event-tickets.ts';
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
  return {
    operations: {
      callerOf: createAuthenticator(ctx),
      ...offer(ctx, { createEventTicket, createUploadToken, assertReadableByToken, deleteOldUploadTokens }),
      recordUploadOfToken,
    },
    routes: serviceKeyRoutes(ctx),
    jobs: {},
  };
}
