// SQL queries that export the assets and events of an owner.
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { assetRow, eventRow, pick } from '../tables.ts';

const ASSET = columns(assetRow);
const exportedEvent = pick(eventRow, ['id', 'type', 'data', 'created_at', 'revision']);

type Page = { readonly after: string; readonly limit: number };

/** A page of the active assets and those in the trash, by id. */
export const listExportedAssets = async (db: Queries, owner: string, page: Page): Promise<readonly Asset[]> =>
  (await db.all(sql('exported assets', assetRow)`
    select ${ASSET} from (
      (select ${ASSET} from assets
        where owner_user_id = ${owner} and id > ${page.after} and deleted_at is null
        order by id limit ${page.limit})
      union all
      (select ${ASSET} from assets
        where owner_user_id = ${owner} and id > ${page.after} and purge_at is not null
        order by id limit ${page.limit})) as found
     order by id limit ${page.limit}`)) as readonly unknown[] as readonly Asset[];

export const listEvents = (db: Queries, assetId: string, page: Page) =>
  db.all(sql('exported events', exportedEvent)`
    select ${columns(exportedEvent)} from events
     where asset_id = ${assetId} and id > ${page.after} order by id limit ${page.limit}`);
