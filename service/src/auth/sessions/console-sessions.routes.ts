// Sign in to the console, ask who is signed in, sign out.
import {
  createConsoleSession,
  createSignInLink as createLinkOperation,
  endConsoleSession,
  getConsoleSession,
} from '@mediary/contract/operations/admin/console';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { badRequest } from '../../platform/http/errors.ts';
import { type AsOperator, guarded, type Input } from '../../platform/http/route.ts';
import type { AuthContext } from '../context.ts';
import {
  createSession,
  createSessionToken,
  createSignInLink,
  endSession,
  getSession,
} from './console-sessions.ts';
import { CONSOLE_HEADER, formatSessionCookie, readSessionToken } from './session-cookie.ts';

/** A new session gets a new token, so that nobody can choose it beforehand. */
const signingIn = guarded<undefined, { readonly newToken: string }>({
  name: 'console',
  identify: () => undefined,
  admit: (_identity, { headers }) => {
    assertFromConsole(headers);
    return { newToken: createSessionToken() };
  },
});

/** The session of the request, if one is named. */
const signedIn = guarded<undefined, { readonly token: string | undefined }>({
  name: 'console',
  identify: () => undefined,
  admit: (_identity, { headers }) => ({ token: readSessionToken(headers) }),
});

function assertFromConsole(headers: Input['headers']): void {
  if (headers[CONSOLE_HEADER] !== undefined) return;
  throw badRequest('Send the header "X-Mediary-Console: 1"', {
    field: 'X-Mediary-Console',
    reason: 'required',
  });
}

export function consoleSessionRoutes(ctx: AuthContext, asOperator: AsOperator) {
  const cookie = (token: string, maxAgeSeconds: number) =>
    formatSessionCookie({ token, baseUrl: ctx.publicBaseUrl(), maxAgeSeconds });
  return [
    signingIn(
      createConsoleSession,
      async ({ body, newToken }) => toView(await createSession(ctx, body, newToken)),
      // The database ends the session; the cookie may stay longer than an access token.
      { setCookie: ({ newToken }) => cookie(newToken, COOKIE_AGE_S) },
    ),
    signedIn(getConsoleSession, async ({ token }) => toView(await getSession(ctx, token))),
    signedIn(endConsoleSession, async ({ token }) => ({ has_ended: await endSession(ctx, token) }), {
      setCookie: () => cookie('', 0),
    }),
    asOperator(createLinkOperation, async () => {
      const { url, expiresAt } = await createSignInLink(ctx);
      return { url, expires_at: expiresAt.toISOString() };
    }),
  ];
}

const COOKIE_AGE_S = 12 * 3600;

type Session = Awaited<ReturnType<typeof getSession>>;

const toView = ({ kind, owner_user_id, created_at, expires_at }: Session): ConsoleSession => ({
  kind: kind as ConsoleSession['kind'],
  owner_user_id,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
});
