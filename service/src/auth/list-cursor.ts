// Cursors of lists: a signed position that is valid only for the owner, filters and sort of the list that
// issued it.
import { createHash } from 'node:crypto';
import { badRequest } from '../platform/http/errors.ts';
import { isUuid } from '../platform/values/uuid.ts';
import type { Secret } from './secret.ts';
import { deriveKey, signToken, verifyToken } from './signed-token.ts';

/** Everything that decides which rows a list has and in which order. Undefined members count as omitted. */
export type CursorScope = { readonly list: string } & Readonly<Record<string, unknown>>;

const DIGEST_CHARACTERS = 16;

/** `id` of the last row of the page. */
export function createCursor(secrets: readonly Secret[], scope: CursorScope, id: string): string {
  const [root] = secrets;
  if (!root) throw new Error('no URL signing secret');
  return signToken(deriveKey(root, 'cursor'), `${id}:${digestOf(scope)}`);
}

/** The id in the cursor. Throws BAD_REQUEST for a cursor of another list. */
export const readCursor = (secrets: readonly Secret[], scope: CursorScope, cursor: string): string =>
  readSigned({ secrets, scope, cursor, isValid: isUuid });

type Position = readonly (string | number)[];

/** For lists in another order: the sort keys of the last row of the page. */
export const createPositionCursor = (
  secrets: readonly Secret[],
  scope: CursorScope,
  position: Position,
): string => createCursor(secrets, scope, Buffer.from(JSON.stringify(position)).toString('base64url'));

/** Throws BAD_REQUEST for a cursor of another list. */
export const readPositionCursor = (
  secrets: readonly Secret[],
  scope: CursorScope,
  cursor: string,
): Position =>
  JSON.parse(
    Buffer.from(
      readSigned({ secrets, scope, cursor, isValid: (text) => text !== '' }),
      'base64url',
    ).toString(),
  );

type SignedCursor = {
  readonly secrets: readonly Secret[];
  readonly scope: CursorScope;
  readonly cursor: string;
  readonly isValid: (position: string) => boolean;
};

function readSigned({ secrets, scope, cursor, isValid }: SignedCursor): string {
  const payload = verifyToken(
    secrets.map((root) => deriveKey(root, 'cursor')),
    cursor,
  );
  const [position = '', digest] = payload?.split(':') ?? [];
  if (!isValid(position) || digest !== digestOf(scope))
    throw badRequest(
      'Invalid cursor. Send the next_cursor of the previous page with the same filters and the same sort.',
      { field: 'cursor', reason: 'invalid_cursor' },
    );
  return position;
}

/** Members are sorted, so that the order in which a scope is written does not matter. */
const digestOf = (scope: CursorScope): string =>
  createHash('sha256')
    .update(
      JSON.stringify(
        Object.entries(scope)
          .filter(([, value]) => value !== undefined)
          .sort(),
      ),
    )
    .digest('base64url')
    .slice(0, DIGEST_CHARACTERS);
