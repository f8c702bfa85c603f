// Authentication: who sends a request, and the named keys of services.
import type { AppContext } from '../app-context.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import { createAuthenticator } from './auth.hook.ts';
import { createEventTicket } from './event-tickets.ts';
import { createServiceKeyLookup } from './service-key-lookup.ts';
import * as keyOperations from './service-keys.ts';
import { serviceKeyRoutes } from './service-keys.routes.ts';
import {
  assertReadableByToken,
  createUploadToken,
  deleteOldUploadTokens,
  recordUploadOfToken,
} from './upload-tokens.ts';

export type Auth = ReturnType<typeof createAuth>['operations'];

type Needs = AppContext & { readonly asOperator: AsOperator };

export function createAuth(needs: Needs) {
  const { config, issuerKeys, now, asOperator, urlSecrets } = needs;
  const { find, findById, invalidate } = createServiceKeyLookup({
    ...needs,
    elapsedMs: () => performance.now(),
  });
  const issuer = config.issuer && issuerKeys && { ...config.issuer, keys: issuerKeys };
  return {
    operations: {
      callerOf: createAuthenticator({
        ...config,
        urlSecrets,
        now,
        issuer,
        findServiceKey: find,
        findServiceKeyById: findById,
      }),
      ...bind(needs, { createEventTicket, createUploadToken, assertReadableByToken, deleteOldUploadTokens }),
      recordUploadOfToken,
    },
    routes: serviceKeyRoutes(bind({ ...needs, invalidate }, keyOperations), asOperator),
    jobs: {},
  };
}
