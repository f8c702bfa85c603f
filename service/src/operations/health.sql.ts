// Whether the database answers and the job queue's tables are there.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

export const probeDatabase = (db: Queries) =>
  db.one(sql('ask', { queue: 'bool' })`select to_regclass('pgboss.job') is not null as queue`);
