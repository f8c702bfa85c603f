// Fetches the keys of an identity provider from its JWKS URL, and verifies tokens with them (RFC 7515, 7517).
import { compactVerify, createLocalJWKSet, errors, importJWK, type JWK } from 'jose';
import { createRefreshedValue } from '../../platform/concurrency/refreshed-value.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import { sendRequest } from '../../platform/outbound/http-client.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { ISSUER_ALGORITHMS } from './issuer-token.ts';

/** A request waits for at most two fetches, which must take less than the time limit of its body. */
const LIMITS = { timeoutMs: 4000, maxBytes: 256 * 1024 };
const HEADERS = { accept: 'application/jwk-set+json, application/json' };
const MINUTE_MS = 60_000;
const COOLDOWN_S = 5;
const REFRESH = {
  maxAgeMs: 10 * MINUTE_MS,
  maxStaleMs: 24 * 60 * MINUTE_MS,
  cooldownMs: COOLDOWN_S * 1000,
};
const MIN_RSA_BITS = 2048;

type JwksOptions = {
  readonly url: string;
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
};
type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Starts to fetch the keys, so that the first token need not wait. */
export function openJwksIssuerKeys({ url, onError, now = () => performance.now() }: JwksOptions): IssuerKeys {
  const keys = createRefreshedValue({ load: () => fetchKeys(url), onError, now, ...REFRESH });
  void keys.get();
  return {
    async verify(token) {
      const known = await keys.get();
      if (!known) throw issuerUnavailable();
      const result = await verifyWith(known, token);
      if (result !== 'unknown_key') return result;
      const { value: latest, isCurrent } = await keys.refresh();
      if (latest && latest !== known) return verifyWith(latest, token);
      if (!isCurrent) throw issuerUnavailable();
      return 'unknown_key';
    },
  };
}

const issuerUnavailable = () =>
  new ServiceError('UNAVAILABLE', 'The keys of the identity provider are not available. Retry later.', {
    details: { reason: 'issuer_unavailable' },
    retryAfterSeconds: COOLDOWN_S,
  });

async function verifyWith(keys: KeySet, token: string): ReturnType<IssuerKeys['verify']> {
  try {
    return (await compactVerify(token, keys, { algorithms: ISSUER_ALGORITHMS })).payload;
  } catch (error) {
    if (isUnknownKey(error)) return 'unknown_key';
    if (error instanceof errors.JOSEError) return 'bad_signature';
    throw error;
  }
}

/** Several keys: the token names none, or several have its key id. */
const isUnknownKey = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;

async function fetchKeys(url: string): Promise<KeySet> {
  const result = await sendRequest({ method: 'GET', url, headers: HEADERS }, LIMITS);
  if ('failure' in result)
    throw new Error(`The JWKS URL did not answer: ${result.failure}`, { cause: result.cause });
  if (result.status !== 200) throw new Error(`The JWKS URL answered ${result.status} instead of 200`);
  const { keys } = (result.body ?? {}) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('The JWKS URL answered without a list of keys');
  const usable = await Promise.all(keys.map(isUsable));
  return createLocalJWKSet({ keys: keys.filter((_key, index) => usable[index]) });
}

/** Drops keys of other kinds, too short ones, and private ones, which everybody can read now. */
async function isUsable(jwk: unknown): Promise<boolean> {
  const { alg: _, ...key } = (jwk ?? {}) as JWK;
  if ((key.kty !== 'RSA' && key.kty !== 'EC') || key.d !== undefined) return false;
  try {
    const imported = await importJWK(key, key.kty === 'RSA' ? 'RS256' : 'ES256');
    if (imported instanceof Uint8Array) return false;
    const { modulusLength = MIN_RSA_BITS } = imported.algorithm as { readonly modulusLength?: number };
    return modulusLength >= MIN_RSA_BITS;
  } catch {
    // A malformed key, or one of a curve that is not supported, must not make the others unusable.
    return false;
  }
}
