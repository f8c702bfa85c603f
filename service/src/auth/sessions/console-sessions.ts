// Sessions of the console: a credential is exchanged once for a cookie.
import { randomBytes } from 'node:crypto';
import type { CreateSessionRequest } from '@mediary/contract/schemas/admin/console';
import { badRequest, forbidden, unauthorized } from '../../platform/http/errors.ts';
import type { Caller } from '../caller.ts';
import type { AuthContext } from '../context.ts';
import { callerOfCredentials } from '../identify-caller.ts';
import { digestOfKey } from '../keys/service-key-grant.ts';
import { assertOwnerAllowed } from '../permissions.ts';
import { isServiceKey, type Secret } from '../secret.ts';
import { equalBytes, hmacSha256 } from '../signature.ts';
import { deriveKey } from '../signed-token.ts';
import { parseUserId } from '../user-id.ts';
import {
  deleteEndedSessions as deleteEnded,
  deleteSession,
  findSession,
  insertSession,
  insertSignInCode,
  type SessionRow,
  takeSignInCode,
} from './console-sessions.sql.ts';

const LIFETIME_S = 12 * 3600;
const CODE_LIFETIME_S = 600;
/** Of one operator, service key or user. */
const MAX_SESSIONS = 100;
const TOKEN_BYTES = 32;

export const createSessionToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** What a session is for, before it is stored. */
type SignedIn = Pick<SessionRow, 'kind' | 'subject' | 'owner_user_id' | 'service_key_id' | 'key_digest'> & {
  /** When the credential ends, in seconds since 1970. */
  readonly end?: number | undefined;
};

/** Throws BAD_REQUEST unless exactly one credential is given, and UNAUTHORIZED if it is not valid. */
export async function createSession(
  ctx: AuthContext,
  request: CreateSessionRequest,
  token: string,
): Promise<SessionRow> {
  const { end, ...members } = await signIn(ctx, request);
  const left = end === undefined ? LIFETIME_S : end - ctx.now().getTime() / 1000;
  const maxAgeSeconds = Math.floor(Math.min(LIFETIME_S, left));
  return ctx.db.transaction((tx) =>
    insertSession(tx, { ...members, token_hash: digestOfKey(token), maxAgeSeconds }, MAX_SESSIONS),
  );
}

const CREDENTIALS = ['operator_key', 'service_key', 'access_token', 'code'] as const;

function signIn(ctx: AuthContext, request: CreateSessionRequest): SignedIn | Promise<SignedIn> {
  const { operator_key: operatorKey, service_key: serviceKey, access_token: accessToken, code } = request;
  const given = CREDENTIALS.filter((name) => request[name] !== undefined);
  if (given.length !== 1)
    throw badRequest('Send exactly one of operator_key, service_key, access_token and code', {
      field: given[1] ?? 'operator_key',
      reason: given.length === 0 ? 'required' : 'invalid_value',
      allowed: [...CREDENTIALS],
    });
  if (operatorKey !== undefined) return signInOperator(ctx, operatorKey);
  if (code !== undefined) return signInByCode(ctx, code);
  if (accessToken !== undefined) return signInUser(ctx, accessToken);
  return signInService(ctx, serviceKey ?? '', request.owner_user_id);
}

const OPERATOR = {
  kind: 'operator',
  subject: 'operator',
  owner_user_id: null,
  service_key_id: null,
} as const;

function signInOperator(ctx: AuthContext, key: string): SignedIn {
  if (!isServiceKey(key, ctx.settings.operatorKeys))
    throw unauthorized('The operator key is not valid', {
      reason: 'invalid_credential',
      field: 'operator_key',
    });
  return { ...OPERATOR, key_digest: digestOfSecret(ctx, key) };
}

/** Its session ends with the current operator key. */
async function signInByCode(ctx: AuthContext, code: string): Promise<SignedIn> {
  const [key] = ctx.settings.operatorKeys;
  if (!key || !(await takeSignInCode(ctx.db, digestOfKey(code))))
    throw unauthorized('The sign-in link was used or has expired. Create another one.', {
      reason: 'invalid_credential',
      field: 'code',
    });
  return { ...OPERATOR, key_digest: digestOfSecret(ctx, key.reveal()) };
}

async function signInUser(ctx: AuthContext, token: string): Promise<SignedIn> {
  const caller = await callerOfCredentials(ctx, { authorization: [`Bearer ${token}`], serviceKey: [] });
  if (caller.kind !== 'user') throw new Error('a bearer token belongs to a user');
  if (caller.upload)
    throw forbidden('An upload token can only create, complete and read its uploads', {
      reason: 'upload_token_bounds',
      field: 'access_token',
    });
  const { userId, tokenEnd } = caller;
  const user = { kind: 'user', subject: `user ${userId}`, owner_user_id: userId } as const;
  return { ...user, service_key_id: null, key_digest: null, end: tokenEnd };
}

async function signInService(ctx: AuthContext, key: string, named: string | undefined): Promise<SignedIn> {
  const caller = await callerOfCredentials(ctx, { authorization: [], serviceKey: [key] });
  const owner = parseUserId(named);
  if (owner === undefined)
    throw badRequest('owner_user_id is required with service_key', {
      field: 'owner_user_id',
      reason: 'required',
    });
  assertOwnerAllowed(caller, owner);
  const id = caller.kind === 'service' ? caller.key?.id : undefined;
  return {
    kind: 'service',
    subject: `service ${id ?? ''}`,
    owner_user_id: owner,
    service_key_id: id ?? null,
    key_digest: id === undefined ? digestOfSecret(ctx, key) : null,
  };
}

/** Keyed, so that the database does not help to guess a short key. */
const digestWith = (root: Secret, key: string): Buffer =>
  hmacSha256(deriveKey(root, 'session').key, Buffer.from(key));

function digestOfSecret({ urlSecrets }: AuthContext, key: string): string {
  const [root] = urlSecrets;
  if (!root) throw new Error('no URL signing secret');
  return digestWith(root, key).toString('hex');
}

/** Throws UNAUTHORIZED if no session is open. */
export async function getSession(ctx: AuthContext, token: string | undefined): Promise<SessionRow> {
  if (token === undefined)
    throw unauthorized('Nobody is signed in. Sign in with a key, an access token or a sign-in link.', {
      reason: 'missing',
      field: 'Cookie',
    });
  const session = await findSession(ctx.db, digestOfKey(token));
  if (!session || !(await isKeyValid(ctx, session)))
    throw unauthorized('The session has ended. Sign in again.', { reason: 'expired', field: 'Cookie' });
  return session;
}

/** Whether the key of the session still opens the service. */
async function isKeyValid(ctx: AuthContext, session: SessionRow): Promise<boolean> {
  const { kind, service_key_id: id, key_digest: digest } = session;
  if (kind === 'user') return true;
  if (id !== null) return (await ctx.namedKeys.findById(id)) !== undefined;
  const keys = kind === 'operator' ? ctx.settings.operatorKeys : ctx.settings.serviceKeys;
  const stored = Buffer.from(digest ?? '', 'hex');
  return keys.some((key) =>
    ctx.urlSecrets.some((root) => equalBytes(stored, digestWith(root, key.reveal()))),
  );
}

/** The caller that a session stands for. Operators may create service keys, so that they act as a service. */
export async function callerOfSession(ctx: AuthContext, token: string): Promise<Caller> {
  const session = await getSession(ctx, token);
  const { kind, owner_user_id: owner, service_key_id: id, expires_at: end } = session;
  if (kind === 'user')
    return { kind: 'user', userId: owner ?? '', tokenEnd: Math.floor(end.getTime() / 1000) };
  const key = id === null ? undefined : await ctx.namedKeys.findById(id);
  return { kind: 'service', ...(key && { key }), ...(kind === 'operator' && { isOperator: true }) };
}

/** Throws FORBIDDEN for sessions of users and services. */
export async function assertOperatorSession(ctx: AuthContext, token: string): Promise<void> {
  const { kind } = await getSession(ctx, token);
  if (kind !== 'operator')
    throw forbidden('Only operators may do this. Sign in with the operator key.', {
      reason: 'operators_only',
    });
}

/** False where no session was open. */
export const endSession = ({ db }: AuthContext, token: string | undefined): Promise<boolean> =>
  token === undefined ? Promise.resolve(false) : deleteSession(db, digestOfKey(token));

type CreatedLink = { readonly url: string; readonly expiresAt: Date };

/** A link that signs in an operator once. Its code is in the fragment, which browsers send to nobody. */
export async function createSignInLink({ db, publicBaseUrl }: AuthContext): Promise<CreatedLink> {
  const code = createSessionToken();
  const expiresAt = await insertSignInCode(db, digestOfKey(code), CODE_LIFETIME_S);
  return { url: `${publicBaseUrl()}/console#code=${code}`, expiresAt };
}

/** Returns how many sessions and codes were deleted. */
export const deleteEndedSessions = ({ db }: AuthContext): Promise<number> => deleteEnded(db);
