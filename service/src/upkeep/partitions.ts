// Keeps room for the rows of the months to come.
import type { Database } from '../platform/postgres/database.ts';
import { makeMonthPartitions } from './partitions.sql.ts';

const MONTHS_AHEAD = 3;

export const makePartitions = ({ db }: { db: Database }): Promise<number> => makeMonthPartitions(db, MONTHS_AHEAD);
