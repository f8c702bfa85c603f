// Authenticates the caller of a request before its body is read (contract A4, B2).
import type { FastifyRequest } from 'fastify';
import { unauthorized } from '../platform/errors.ts';
import { headerValues } from '../platform/http/headers.ts';
import { type Caller, type CallerFault, type CallerNeeds, identify } from './caller.ts';

type AuthNeeds = Pick<CallerNeeds, 'tokenSecrets' | 'serviceKeys'> & { readonly now: () => Date };

/** Throws UNAUTHORIZED. */
export const createAuthenticator =
  ({ tokenSecrets, serviceKeys, now }: AuthNeeds) =>
  ({ raw }: FastifyRequest): Caller => {
    const credentials = {
      authorization: headerValues(raw, 'authorization'),
      serviceKey: headerValues(raw, 'x-service-key'),
    };
    const identified = identify(credentials, {
      tokenSecrets,
      serviceKeys,
      nowSeconds: now().getTime() / 1000,
    });
    if ('fault' in identified) throw toUnauthorized(identified.fault);
    return identified.caller;
  };

const toUnauthorized = ({ message, challenge, ...details }: CallerFault) =>
  unauthorized(message, details, challenge);
