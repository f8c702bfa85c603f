// Finds the assets to purge.
import type { Asset } from '../assets/asset.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { assetRow } from '../tables.ts';

const ASSET = columns(assetRow);

/** Assets whose time in the trash is over, oldest first. */
export const findOverdueInTrash = async (db: Queries, now: Date, limit: number) =>
  (await db.all(sql('overdue in trash', assetRow)`
    select ${ASSET} from assets where purge_at <= ${now} order by purge_at limit ${limit}`)) as readonly unknown[] as readonly Asset[];
