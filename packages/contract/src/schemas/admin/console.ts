// Sessions of the console: what signs in, and who is signed in.
import { type Static, Type } from 'typebox';
import { nullable, OwnerUserId, Timestamp } from '../common.ts';

const SESSION_KINDS = ['operator', 'service', 'user'] as const;

const Credential = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 8192, description }));

export const CreateSessionRequest = Type.Object(
  {
    operator_key: Credential('The operator key: signs in to everything.'),
    service_key: Credential('A service key, with `owner_user_id`.'),
    owner_user_id: Type.Optional({
      ...OwnerUserId,
      description: 'With `service_key`: the owner whose library is shown first.',
    }),
    access_token: Credential('An access token of a user: signs in to the assets of the user.'),
    code: Credential('The code of a sign-in link. It works once, and signs in to everything.'),
  },
  { $id: 'CreateSessionRequest', examples: [{ operator_key: 'EXAMPLE-operator-key-0123456789' }] },
);
export type CreateSessionRequest = Static<typeof CreateSessionRequest>;

export const ConsoleSession = Type.Object(
  {
    kind: Type.Enum([...SESSION_KINDS], {
      description:
        'What the session may do: `operator` everything, `service` what its service key allows, `user` ' +
        'what the user may do.',
    }),
    owner_user_id: nullable(
      Type.String({ description: 'The user, or the owner that a service named; null for operators.' }),
    ),
    created_at: Timestamp,
    expires_at: Timestamp,
  },
  { $id: 'ConsoleSession' },
);
export type ConsoleSession = Static<typeof ConsoleSession>;

export const EndedSession = Type.Object(
  { has_ended: Type.Boolean({ description: 'False where no session was open.' }) },
  { $id: 'EndedSession' },
);

export const SignInLink = Type.Object(
  {
    url: Type.String({ format: 'uri', description: 'Opens the console. It works once.' }),
    expires_at: Timestamp,
  },
  { $id: 'SignInLink' },
);
export type SignInLink = Static<typeof SignInLink>;

export const EXAMPLE_SESSION: ConsoleSession = {
  kind: 'operator',
  owner_user_id: null,
  created_at: '2026-11-22T10:15:00.000Z',
  expires_at: '2026-11-22T22:15:00.000Z',
};
