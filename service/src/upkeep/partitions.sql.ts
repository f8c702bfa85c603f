// The months' partitions of events and deliveries.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/** Makes those of this month and of the months ahead that are missing; answers how many. */
export const makeMonthPartitions = async (db: Queries, monthsAhead: number): Promise<number> =>
  (
    await db.one(
      sql('make month partitions', { made: 'int4' })`select make_month_partitions(${monthsAhead}) as made`,
    )
  )?.made ?? 0;

/** Drops the months of deliveries that ended before a time; answers how many. */
export const dropDeliveriesBefore = async (db: Queries, before: Date): Promise<number> =>
  (
    await db.one(
      sql('drop deliveries', {
        dropped: 'int4',
      })`select drop_month_partitions('deliveries', ${before}) as dropped`,
    )
  )?.dropped ?? 0;
