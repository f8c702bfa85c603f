// Authenticates the caller of a request before its body is read (contract A4, B2).
import type { ServiceScope } from '@mediary/contract/enums';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { forbidden } from '../platform/http/errors.ts';
import { headerValues } from '../platform/http/headers.ts';
import { type Caller, MULTIPLE_CREDENTIALS } from './caller.ts';
import type { AuthContext } from './context.ts';
import { callerOfCredentials, toUnauthorized } from './identify-caller.ts';
import { callerOfSession } from './sessions/console-sessions.ts';
import { readSessionToken } from './sessions/session-cookie.ts';
import { callerOfTicket } from './tickets/event-tickets.ts';
import { assertScope } from './permissions.ts';

/**
 * A promise only where something must be fetched, so that other callers do not wait. Throws UNAUTHORIZED, and
 * FORBIDDEN for a service key without the scope of the route.
 */
export function createAuthenticator(ctx: AuthContext) {
  return ({ raw, query, routeOptions }: FastifyRequest): Caller | Promise<Caller> => {
    const credentials = {
      authorization: headerValues(raw, 'authorization'),
      serviceKey: headerValues(raw, 'x-service-key'),
    };
    const hasCredentials = credentials.authorization.length + credentials.serviceKey.length > 0;
    const ticket = routeOptions.config.acceptsEventTickets ? ticketOf(query) : undefined;
    if (ticket !== undefined) {
      if (hasCredentials) throw toUnauthorized(MULTIPLE_CREDENTIALS.fault);
      return callerOfTicket(ctx, ticket);
    }
    const session = hasCredentials ? undefined : readSessionToken(raw.headers);
    const caller =
      session === undefined ? callerOfCredentials(ctx, credentials) : callerOfSession(ctx, session);
    const { scope } = routeOptions.config;
    if (caller instanceof Promise) return caller.then((found) => requireScope(found, scope));
    return requireTokenAccess(caller, routeOptions.config);
  };
}

function ticketOf(query: unknown): string | undefined {
  const { ticket } = query as { readonly ticket?: unknown };
  return typeof ticket === 'string' ? ticket : undefined;
}

/** An upload token opens only the routes that name it. */
function requireTokenAccess(caller: Caller, { acceptsUploadTokens }: FastifyContextConfig): Caller {
  if (caller.kind === 'user' && caller.upload && !acceptsUploadTokens)
    throw forbidden('An upload token can only create, complete and read its uploads', {
      reason: 'upload_token_bounds',
    });
  return caller;
}

/** Only callers that a promise identifies can lack a scope. */
function requireScope(caller: Caller, scope: ServiceScope = 'write'): Caller {
  assertScope(caller, scope);
  return caller;
}
