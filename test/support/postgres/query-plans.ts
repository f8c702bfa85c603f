// The plan of the statement that a query runs.
import type pg from 'pg';
import type { Queries } from '../../../service/src/platform/postgres/database.ts';
import type { Statement } from '../../../service/src/platform/postgres/sql.ts';

/** Collects the statements, and returns no rows. */
export async function recordStatements(query: (db: Queries) => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const db: Queries = {
    all: async (statement) => {
      statements.push(statement);
      return [];
    },
    one: async (statement) => {
      statements.push(statement);
      return undefined;
    },
  };
  await query(db);
  return statements;
}

/** Runs the last statement of `query` to the end, or the one at `place`, and returns how. */
export async function explain(
  client: pg.Client,
  query: (db: Queries) => Promise<unknown>,
  place = -1,
): Promise<string> {
  const { text, values } = (await recordStatements(query)).at(place) as Statement;
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, buffers, timing off) ${text}`,
    values,
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** Pages that the statement read, from memory or from the disk. */
export function buffersOf(plan: string): number {
  const [found, hit, read] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? [];
  if (found === undefined) throw new Error(`the plan tells no buffers: ${plan}`);
  return Number(hit ?? 0) + Number(read ?? 0);
}
