// SQL queries for samples. `host` is a process; `*` stands for all processes, '' for the database's state.
import type { Queries } from '../../platform/postgres/database.ts';
import { sql } from '../../platform/postgres/sql.ts';

const SAMPLE = { at: 'timestamptz', values: 'jsonb' } as const;

/** No row if the process has a sample of this minute already. */
export const insertSample = (db: Queries, host: string, values: object) =>
  db.one(sql('insert sample', { at: 'timestamptz' })`
    insert into samples (at, host, values)
    values (date_trunc('minute', now()), ${host}, ${JSON.stringify(values)}::jsonb)
    on conflict (host, at) do nothing returning at`);

export const fillSample = (db: Queries, at: Date, values: object) =>
  db.one(sql('fill sample')`
    update samples set values = ${JSON.stringify(values)}::jsonb where host = '' and at = ${at}`);

/** Of minutes that have ended for all processes, and are not joined yet. */
export const listUnjoinedSamples = (db: Queries) =>
  db.all(sql('unjoined samples', SAMPLE)`
    select at, values from samples
     where host not in ('', '*') and at <= now() - interval '2 minutes'
       and at > coalesce((select max(at) from samples where host = '*'), now() - interval '10 minutes')
     order by at limit 5000`);

export const insertJoinedSample = (db: Queries, at: Date, values: object) =>
  db.one(sql('insert joined sample')`
    insert into samples (at, host, values) values (${at}, '*', ${JSON.stringify(values)}::jsonb)
    on conflict (host, at) do nothing`);

export const deleteSamplesOlderThan = (db: Queries, hours: number) =>
  db.one(sql('delete old samples')`
    delete from samples where at < now() - ${hours} * interval '1 hour'`);

/** Bytes and assets of all owners, by their latest count. */
export const sumOwnerTotals = (db: Queries) =>
  db.one(sql('sum owner totals', { bytes: 'int8?', assets: 'int8?' })`
    select sum(bytes)::int8 as bytes, sum(assets)::int8 as assets from owner_totals`);

/** Of one host, or of `*` and ''. One row for each host and minute. */
export const listSampleRows = (db: Queries, hosts: readonly string[], since: Date) =>
  db.all(sql('list samples', { host: 'text', ...SAMPLE })`
    select host, at, values from samples where host = any(${hosts}::text[]) and at >= ${since} order by at`);

/** Of all processes in the minutes that are not joined yet. */
export const listLatestSamples = (db: Queries, since: Date) =>
  db.all(sql('latest samples', SAMPLE)`
    select at, values from samples
     where host not in ('', '*') and at >= ${since}
       and at > coalesce((select max(at) from samples where host = '*'), now() - interval '10 minutes')
     order by at limit 5000`);
