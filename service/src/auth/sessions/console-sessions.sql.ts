// SQL queries for console sessions and sign-in codes. The database's clock ends both.
import { deleteInBatches } from '../../platform/postgres/delete-in-batches.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { columns, sql } from '../../platform/postgres/sql.ts';
import { TABLES } from '../../tables.ts';

const SHAPE = TABLES.console_sessions;
const COLUMNS = columns(SHAPE);

export type SessionRow = Readonly<RowOf<typeof SHAPE>>;
type NewSession = Omit<SessionRow, 'created_at' | 'expires_at'> & { readonly maxAgeSeconds: number };

/** Also ends the oldest sessions of the same subject above `limit`. */
export async function insertSession(tx: Queries, session: NewSession, limit: number): Promise<SessionRow> {
  const { subject } = session;
  const inserted = await tx.one(sql('insert console session', SHAPE)`
    insert into console_sessions (token_hash, kind, subject, owner_user_id, service_key_id, key_digest,
                                  created_at, expires_at)
    values (${session.token_hash}, ${session.kind}, ${subject}, ${session.owner_user_id},
            ${session.service_key_id}, ${session.key_digest}, now(),
            now() + make_interval(secs => ${session.maxAgeSeconds}))
    returning ${COLUMNS}`);
  if (!inserted) throw new Error('the console session was not inserted');
  await tx.one(sql('end oldest console sessions')`
    delete from console_sessions
     where token_hash in (
       select token_hash from console_sessions
        where subject = ${subject} order by created_at desc, token_hash offset ${limit})`);
  return inserted;
}

export const findSession = (db: Queries, tokenHash: string): Promise<SessionRow | undefined> =>
  db.one(sql('console session', SHAPE)`
    select ${COLUMNS} from console_sessions where token_hash = ${tokenHash} and expires_at > now()`);

export const deleteSession = async (db: Queries, tokenHash: string): Promise<boolean> =>
  (await db.one(sql('end console session', { subject: 'text' })`
    delete from console_sessions where token_hash = ${tokenHash} returning subject`)) !== undefined;

/** Returns when the code ends. */
export async function insertSignInCode(db: Queries, codeHash: string, lifetimeS: number): Promise<Date> {
  const inserted = await db.one(sql('insert sign-in code', { expires_at: 'timestamptz' })`
    insert into console_codes (code_hash, expires_at)
    values (${codeHash}, now() + make_interval(secs => ${lifetimeS}))
    returning expires_at`);
  if (!inserted) throw new Error('the sign-in code was not inserted');
  return inserted.expires_at;
}

/** True once. */
export const takeSignInCode = async (db: Queries, codeHash: string): Promise<boolean> =>
  (await db.one(sql('take sign-in code', { code_hash: 'text' })`
    delete from console_codes where code_hash = ${codeHash} and expires_at > now() returning code_hash`)) !==
  undefined;

/** Returns how many sessions and codes were deleted. */
export const deleteEndedSessions = (db: Queries): Promise<number> =>
  deleteInBatches(async (limit) => {
    const deleted = await db.one(sql('delete ended console sessions', { count: 'int8' })`
      with ended as (
        delete from console_sessions
         where token_hash = any(array(
           select token_hash from console_sessions
            where expires_at <= now() order by expires_at limit ${limit}))
        returning 1),
      codes as (
        delete from console_codes
         where code_hash = any(array(
           select code_hash from console_codes
            where expires_at <= now() order by expires_at limit ${limit}))
        returning 1)
      select greatest((select count(*) from ended), (select count(*) from codes)) as count`);
    return deleted?.count ?? 0;
  });
