// An identity provider on loopback: publishes its keys as a JWK set and signs access tokens with them.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type FileServer, startFileServer } from './file-server.ts';

export type SigningKey = {
  readonly kid: string;
  readonly alg: 'RS256' | 'ES256';
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key as it is published. */
  readonly jwk: Readonly<Record<string, unknown>>;
};

const PAIRS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
};

export function createSigningKey(alg: SigningKey['alg'], kid: string, members: object = {}): SigningKey {
  const { privateKey, publicKey } = PAIRS[alg]();
  return {
    kid,
    alg,
    privateKey,
    publicKey,
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg, ...members },
  };
}

export const encodePart = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Signs whatever the header says; the algorithm follows from the key. */
export function signToken(key: SigningKey, claims: unknown, header: object = {}): string {
  const signed = `${encodePart({ alg: key.alg, typ: 'JWT', kid: key.kid, ...header })}.${encodePart(claims)}`;
  return `${signed}.${signatureOf(key, signed).toString('base64url')}`;
}

export const signatureOf = ({ privateKey }: Pick<SigningKey, 'privateKey'>, signed: string): Buffer =>
  sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });

export type IdentityProvider = FileServer & {
  readonly jwksUrl: string;
  readonly issuer: string;
  /** Publishes these keys from now on. */
  publish(...jwks: readonly unknown[]): void;
  /** Answers every request for the keys like this from now on. */
  answer(respond: (response: ServerResponse) => unknown): void;
  /** Number of requests for the keys. */
  fetches(): number;
  claims(userId: unknown, more?: object): object;
};

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const server = await startFileServer();
  const answer: IdentityProvider['answer'] = (respond) => {
    server.serve('/keys', (_request, response) => respond(response));
  };
  const issuer = `${server.url}/`;
  return {
    ...server,
    jwksUrl: `${server.url}/keys`,
    issuer,
    answer,
    publish: (...keys) =>
      answer((response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys })),
      ),
    fetches: () => server.requestsOf('/keys').length,
    claims: (userId, more = {}) => ({
      iss: issuer,
      sub: userId,
      exp: Math.floor(Date.now() / 1000) + 600,
      ...more,
    }),
  };
}
