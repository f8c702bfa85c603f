// Authenticates the caller of a request before its body is read (contract A4, B2).
import type { FastifyRequest } from 'fastify';
import { unauthorized } from '../platform/errors.ts';
import { headerValues } from '../platform/http/headers.ts';
import {
  type Caller,
  type CallerFault,
  type CallerNeeds,
  identify,
  identifyByIssuer,
  type IdentifyResult,
} from './caller.ts';
import type { IssuerNeeds } from './issuer-token.ts';

type AuthNeeds = Pick<CallerNeeds, 'tokenSecrets' | 'serviceKeys'> & {
  /** The identity provider whose tokens are accepted too; undefined: none. */
  readonly issuer: IssuerNeeds | undefined;
  readonly now: () => Date;
};

/** A promise only where something must be fetched, so that other callers do not wait. Throws UNAUTHORIZED. */
export const createAuthenticator =
  ({ tokenSecrets, serviceKeys, issuer, now }: AuthNeeds) =>
  ({ raw }: FastifyRequest): Caller | Promise<Caller> => {
    const credentials = {
      authorization: headerValues(raw, 'authorization'),
      serviceKey: headerValues(raw, 'x-service-key'),
    };
    const nowSeconds = now().getTime() / 1000;
    const identified = identify(credentials, { tokenSecrets, serviceKeys, nowSeconds });
    if ('caller' in identified) return identified.caller;
    const pending = identifyByIssuer(credentials, identified.fault, { issuer, nowSeconds });
    return pending ? pending.then(requireCaller) : requireCaller(identified);
  };

function requireCaller(identified: IdentifyResult): Caller {
  if ('caller' in identified) return identified.caller;
  throw toUnauthorized(identified.fault);
}

const toUnauthorized = ({ message, challenge, ...details }: CallerFault) =>
  unauthorized(message, details, challenge);
