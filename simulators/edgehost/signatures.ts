// The signatures of edgehost: the webhook's HMAC and the playback token (a JWT with RS256).
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import { parseJson } from '../route.ts';

/** `key` is the text of the secret, not decoded. */
export const webhookSignature = (key: string, unixSeconds: number, body: string) =>
  createHmac('sha256', key).update(`${unixSeconds}.${body}`).digest('hex');

export type SigningKey = {
  readonly id: string;
  /** Base64 of the PEM, as in the API. */
  readonly pem: string;
  /** Base64 of the JWK. */
  readonly jwk: string;
  readonly publicKey: KeyObject;
  /** ISO 8601. */
  readonly created: string;
};

const base64 = (text: string) => Buffer.from(text).toString('base64');

export async function newSigningKey(created: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const id = randomUUID().replaceAll('-', '');
  const jwk = JSON.stringify({
    use: 'sig',
    kty: 'RSA',
    kid: id,
    alg: 'RS256',
    ...privateKey.export({ format: 'jwk' }),
  });
  return {
    id,
    pem: base64(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()),
    jwk: base64(jwk),
    publicKey,
    created,
  };
}

type GivenKey = Pick<SigningKey, 'id' | 'pem' | 'created'>;

/** `pem` in Base64 as in the API, or as text. */
export function signingKeyFrom({ id, pem, created }: GivenKey): SigningKey {
  const text = pem.includes('-----BEGIN') ? pem : Buffer.from(pem, 'base64').toString();
  const privateKey = createPrivateKey(text);
  const jwk = JSON.stringify({ use: 'sig', kid: id, alg: 'RS256', ...privateKey.export({ format: 'jwk' }) });
  return { id, pem: base64(text), jwk: base64(jwk), publicKey: createPublicKey(privateKey), created };
}

type Claims = {
  readonly sub: string;
  readonly kid: string;
  readonly exp: number;
  readonly nbf?: number;
  readonly downloadable?: boolean;
};

export function signToken(key: SigningKey, claims: Claims): string {
  const parts = [{ alg: 'RS256', kid: key.id }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign('RSA-SHA256', Buffer.from(parts), Buffer.from(key.pem, 'base64').toString());
  return `${parts}.${signature.toString('base64url')}`;
}

const membersIn = (part: string): object => ({
  ...(parseJson(Buffer.from(part, 'base64url').toString()) as object | undefined),
});

const DAY_S = 24 * 60 * 60;

/** Returns the claims when one of the keys signed the token and it is valid now. */
export function openToken(
  token: string,
  keys: ReadonlyMap<string, SigningKey>,
  nowSeconds: number,
): Claims | undefined {
  const [head = '', body = '', signature = ''] = token.split('.');
  const { alg, kid }: { alg?: string; kid?: string } = membersIn(head);
  const claims: Partial<Claims> = membersIn(body);
  const key = keys.get(kid ?? '');
  if (
    alg !== 'RS256' ||
    !key ||
    !verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key.publicKey, Buffer.from(signature, 'base64url'))
  )
    return undefined;
  const { sub, exp = 0, nbf = 0 } = claims;
  const isTimely = exp > nowSeconds && exp <= nowSeconds + DAY_S && nbf <= nowSeconds;
  return typeof sub === 'string' && claims.kid === kid && isTimely
    ? { ...claims, sub, kid: key.id, exp }
    : undefined;
}
