// Asks the database about itself, and judges what it says.
import type { Database } from '../../platform/postgres/database.ts';
import { listMigrations } from '../../platform/postgres/migrate.ts';
import type { OperationsContext } from '../context.ts';
import {
  judgeClock,
  judgeConnections,
  judgeDeadRows,
  judgeMigrations,
  judgePartitions,
  judgeQueue,
  judgeStatements,
  judgeTransactions,
  judgeVersion,
  statementsNotChecked,
} from './database-rules.ts';
import {
  listAppliedMigrations,
  listDeadRows,
  listLongTransactions,
  listMissingPartitions,
  listQueues,
  listSlowStatements,
  readServerFacts,
} from './diagnostics.sql.ts';
import type { Finding } from '@mediary/checks/finding';

/** One statement after another, so that the checks use one connection of the pool. */
export async function checkDatabase({ db }: OperationsContext): Promise<Finding[]> {
  const start = Date.now();
  const facts = await readServerFacts(db);
  if (!facts) throw new Error('the database returned no facts');
  const roundTripMs = Date.now() - start;
  const applied = (await listAppliedMigrations(db)).map(({ number }) => number);
  return [
    judgeVersion(facts.version),
    judgeMigrations({ applied, known: await listMigrations() }),
    judgeClock('clock.database', {
      other: 'the database',
      skewMs: facts.time.getTime() - (start + roundTripMs / 2),
      errorMs: roundTripMs / 2,
    }),
    judgeConnections(facts),
    judgeTransactions(await listLongTransactions(db)),
    facts.has_statements ? await checkStatements(db) : statementsNotChecked(),
    judgePartitions(await listMissingPartitions(db)),
    judgeDeadRows(await listDeadRows(db)),
  ];
}

/** The view fails where the extension was created, but its library is not loaded. */
const checkStatements = (db: Database): Promise<Finding> =>
  listSlowStatements(db).then(judgeStatements, statementsNotChecked);

export const checkQueue = async ({ db }: OperationsContext): Promise<Finding[]> => [
  judgeQueue(await listQueues(db)),
];
