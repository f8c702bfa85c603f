// Keeps room for the rows of the months to come, and lets go of deliveries whose time is over (contract B6).
import type { Database } from '../platform/postgres/database.ts';
import { dropDeliveriesBefore, makeMonthPartitions } from './partitions.sql.ts';

const MONTHS_AHEAD = 3;
const DAY_MS = 86_400_000;

export type PartitionNeeds = {
  readonly db: Database;
  readonly now: () => Date;
  readonly webhookRetentionDays: number;
};

/** Answers how many months were made. */
export const makePartitions = ({ db }: PartitionNeeds): Promise<number> =>
  makeMonthPartitions(db, MONTHS_AHEAD);

/** By whole months, so that it costs nothing: a delivery is kept for at least its days. Answers how many months went. */
export const dropDeliveries = ({ db, now, webhookRetentionDays }: PartitionNeeds): Promise<number> =>
  dropDeliveriesBefore(db, new Date(now().getTime() - webhookRetentionDays * DAY_MS));
