// Identifies the caller by the credentials of a request, or of a sign-in.
import { unauthorized } from '../platform/http/errors.ts';
import {
  type Caller,
  type CallerFault,
  type Credentials,
  identify,
  identifyByIssuer,
  identifyByServiceKey,
} from './caller.ts';
import type { AuthContext } from './context.ts';

/** A promise only where something must be fetched, so that other callers do not wait. Throws UNAUTHORIZED. */
export function callerOfCredentials(ctx: AuthContext, credentials: Credentials): Caller | Promise<Caller> {
  const { settings, issuerKeys, urlSecrets, namedKeys } = ctx;
  const { tokenSecrets, serviceKeys } = settings;
  const nowSeconds = ctx.now().getTime() / 1000;
  const identified = identify(credentials, { tokenSecrets, serviceKeys, urlSecrets, nowSeconds });
  if ('caller' in identified) return identified.caller;
  const { fault } = identified;
  const issuer = settings.issuer && issuerKeys && { ...settings.issuer, keys: issuerKeys };
  const pending =
    identifyByIssuer(credentials, fault, { issuer, nowSeconds }) ??
    identifyByServiceKey(credentials, fault, namedKeys.find);
  if (!pending) throw toUnauthorized(fault);
  return pending.then((result) => {
    if ('fault' in result) throw toUnauthorized(result.fault);
    return result.caller;
  });
}

export const toUnauthorized = ({ message, challenge, ...details }: CallerFault) =>
  unauthorized(message, details, challenge);
