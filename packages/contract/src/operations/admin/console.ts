// Sessions of the console: sign in, ask who is signed in, sign out.
import { jsonOperation } from '../../operation.ts';
import {
  ConsoleSession,
  CreateSessionRequest,
  EndedSession,
  EXAMPLE_SESSION,
  SignInLink,
} from '../../schemas/admin/console.ts';

const PATH = '/api/v1/console/session';
const CONSOLE = { tag: 'Console', auth: 'none' } as const;
const SIGNED_IN = {
  headers: { 'X-Mediary-Console': '1', Cookie: 'mediary_session=3kQ1xw' },
} as const;
const IS_OFF = { code: 'NOT_FOUND', when: 'The setting `CONSOLE` is `off`.' } as const;
const NOT_SIGNED_IN = {
  code: 'UNAUTHORIZED',
  reason: 'missing',
  when: 'No session is open, or the header `X-Mediary-Console` is missing.',
} as const;

export const createConsoleSession = jsonOperation({
  ...CONSOLE,
  id: 'createConsoleSession',
  method: 'POST',
  path: PATH,
  summary: 'Sign in to the console',
  requestExample: { headers: { 'X-Mediary-Console': '1' } },
  description:
    'Exchanges one credential for the cookie `mediary_session`, which pages cannot read. The session ' +
    'ends after 12 hours, with an access token when that expires, or when its key is replaced or ' +
    'revoked. The cookie takes the place of credentials in requests that also send `X-Mediary-Console: ' +
    '1`.',
  requestHeaders: ['X-Mediary-Console'],
  body: CreateSessionRequest,
  isBodyRequired: true,
  message: 'Signed in',
  data: ConsoleSession,
  example: EXAMPLE_SESSION,
  errors: [
    { code: 'UNAUTHORIZED', reason: 'invalid_credential', when: 'The key, token or code is not valid.' },
    { code: 'UNAUTHORIZED', reason: 'expired', when: 'The access token or the key has expired.' },
    { code: 'FORBIDDEN', reason: 'owner_not_allowed', when: 'The service key is limited to other owners.' },
    { code: 'FORBIDDEN', reason: 'upload_token_bounds', when: 'The token is an upload token.' },
    IS_OFF,
  ],
});

export const getConsoleSession = jsonOperation({
  ...CONSOLE,
  id: 'getConsoleSession',
  method: 'GET',
  path: PATH,
  summary: 'Get the console session',
  requestExample: SIGNED_IN,
  description: 'Tells who is signed in.',
  requestHeaders: ['X-Mediary-Console'],
  message: 'Session',
  data: ConsoleSession,
  example: EXAMPLE_SESSION,
  errors: [
    NOT_SIGNED_IN,
    { code: 'UNAUTHORIZED', reason: 'expired', when: 'The session has ended.' },
    IS_OFF,
  ],
});

export const endConsoleSession = jsonOperation({
  ...CONSOLE,
  id: 'endConsoleSession',
  method: 'DELETE',
  path: PATH,
  summary: 'Sign out of the console',
  requestExample: SIGNED_IN,
  description: 'Ends the session in every process at once. A repeated call has no effect.',
  requestHeaders: ['X-Mediary-Console'],
  message: 'Signed out',
  data: EndedSession,
  example: { has_ended: true },
  errors: [IS_OFF],
});

export const createSignInLink = jsonOperation({
  id: 'createSignInLink',
  method: 'POST',
  path: '/api/v1/admin/console-links',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Create a sign-in link',
  description: 'A link to the console that signs in an operator. It works once, within 10 minutes.',
  message: 'Sign-in link',
  data: SignInLink,
  example: {
    url: 'https://media.example.com/console#code=EXAMPLE-code-0123456789',
    expires_at: '2026-11-22T10:25:00.000Z',
  },
  errors: [IS_OFF],
});
