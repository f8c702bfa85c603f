// Authenticates the caller of a request before its body is read (contract A4, B2).
import type { ServiceScope } from '@mediary/contract/enums';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { forbidden, unauthorized } from '../platform/http/errors.ts';
import { headerValues } from '../platform/http/headers.ts';
import {
  type Caller,
  type CallerFault,
  identify,
  identifyByIssuer,
  identifyByServiceKey,
  type IdentifyResult,
  MULTIPLE_CREDENTIALS,
} from './caller.ts';
import type { AuthContext } from './context.ts';
import { callerOfTicket } from './tickets/event-tickets.ts';
import { assertScope } from './permissions.ts';

/**
 * A promise only where something must be fetched, so that other callers do not wait. Throws UNAUTHORIZED, and
 * FORBIDDEN for a service key without the scope of the route.
 */
export function createAuthenticator(ctx: AuthContext) {
  const { settings, issuerKeys, urlSecrets, namedKeys } = ctx;
  const { tokenSecrets, serviceKeys } = settings;
  const issuer = settings.issuer && issuerKeys && { ...settings.issuer, keys: issuerKeys };
  return ({ raw, query, routeOptions }: FastifyRequest): Caller | Promise<Caller> => {
    const credentials = {
      authorization: headerValues(raw, 'authorization'),
      serviceKey: headerValues(raw, 'x-service-key'),
    };
    const ticket = routeOptions.config.acceptsEventTickets ? ticketOf(query) : undefined;
    if (ticket !== undefined) {
      if (credentials.authorization.length + credentials.serviceKey.length > 0)
        throw toUnauthorized(MULTIPLE_CREDENTIALS.fault);
      return callerOfTicket(ctx, ticket);
    }
    const nowSeconds = ctx.now().getTime() / 1000;
    const identified = identify(credentials, { tokenSecrets, serviceKeys, urlSecrets, nowSeconds });
    if ('caller' in identified) return requireTokenAccess(identified.caller, routeOptions.config);
    const { fault } = identified;
    const pending =
      identifyByIssuer(credentials, fault, { issuer, nowSeconds }) ??
      identifyByServiceKey(credentials, fault, namedKeys.find);
    if (!pending) throw toUnauthorized(fault);
    return pending.then((result) => requireCaller(result, routeOptions.config.scope));
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
function requireCaller(result: IdentifyResult, scope: ServiceScope = 'write'): Caller {
  if ('fault' in result) throw toUnauthorized(result.fault);
  assertScope(result.caller, scope);
  return result.caller;
}

const toUnauthorized = ({ message, challenge, ...details }: CallerFault) =>
  unauthorized(message, details, challenge);
