// Who is asking: a user by an access token or another system by its key, never both (A4).
import { verifyAccessToken } from './access-token.ts';
import type { Secret } from './secret.ts';
import { isServiceKey } from './service-key.ts';

export type Caller = { readonly kind: 'user'; readonly userId: string } | { readonly kind: 'service' };

/** Every value that came: a proxy and a client may each have added one. */
export type Credentials = {
  readonly authorization: readonly string[];
  readonly serviceKey: readonly string[];
};

export type CallerNeeds = {
  readonly tokenSecrets: readonly Secret[];
  readonly serviceKeys: readonly Secret[];
  readonly nowSeconds: number;
};

/** `refused` is the message of the 401. */
export type Identified = { readonly caller: Caller } | { readonly refused: string };

const BEARER = /^Bearer ([^ ]+)$/i;

export function identify({ authorization, serviceKey }: Credentials, needs: CallerNeeds): Identified {
  const [header] = authorization;
  const [key] = serviceKey;
  if (header === undefined && key === undefined) return { refused: 'No credentials' };
  if (authorization.length + serviceKey.length > 1) return { refused: 'Use one authentication scheme' };
  return key === undefined ? user(header ?? '', needs) : service(key, needs);
}

function user(header: string, { tokenSecrets, nowSeconds }: CallerNeeds): Identified {
  const token = BEARER.exec(header)?.[1] ?? '';
  const verified = verifyAccessToken(token, tokenSecrets, nowSeconds);
  return verified
    ? { caller: { kind: 'user', userId: verified.userId } }
    : { refused: 'Invalid access token' };
}

function service(key: string, { serviceKeys }: CallerNeeds): Identified {
  return isServiceKey(key, serviceKeys)
    ? { caller: { kind: 'service' } }
    : { refused: 'Invalid service key' };
}
