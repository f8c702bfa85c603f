// SQL queries that export the events of an owner.
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { eventRow, pick } from '../tables.ts';

const exportedEvent = pick(eventRow, ['id', 'type', 'data', 'created_at', 'revision']);

type Page = { readonly after: string; readonly limit: number };

export const listEvents = (db: Queries, assetId: string, page: Page) =>
  db.all(sql('exported events', exportedEvent)`
    select ${columns(exportedEvent)} from events
     where asset_id = ${assetId} and id > ${page.after} order by id limit ${page.limit}`);
