// SQL queries for stored webhook deliveries.
import type { ProviderName } from '../../assets/asset.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { columns, composeClauses, type Clause, clause, sql } from '../../platform/postgres/sql.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { deliveryRow } from '../../tables-rows.ts';

/** A stored delivery with its raw body. */
export type StoredDelivery = RowOf<typeof deliveryRow>;

const { body: _body, headers: _headers, ...listed } = deliveryRow;
const LISTED = columns(listed);
const DELIVERY = columns(deliveryRow);

/**
 * Omitted filters are ignored. Ids contain the time: `fromId` is inclusive, `aboveId` and `belowId` are
 * exclusive.
 */
export type DeliveryFilter = {
  readonly provider?: ProviderName | undefined;
  readonly assetId?: string | undefined;
  readonly providerVideoId?: string | undefined;
  readonly processed?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly fromId?: string | undefined;
  readonly aboveId?: string | undefined;
  readonly belowId?: string | undefined;
};

/** Newest first. */
export const listDeliveries = (db: Queries, filter: DeliveryFilter, limit: number) =>
  db.all(
    composeClauses('deliveries', listed, [
      clause('')`select ${LISTED} from deliveries where true`,
      ...conditions(filter),
      clause('')`order by id desc limit ${limit}`,
    ]),
  );

/** Oldest first. */
export const listDeliveryIds = async (
  db: Queries,
  filter: DeliveryFilter,
  limit: number,
): Promise<string[]> =>
  (
    await db.all(
      composeClauses('delivery ids', { id: 'uuid' }, [
        clause('')`select id from deliveries where true`,
        ...conditions(filter),
        clause('')`order by id limit ${limit}`,
      ]),
    )
  ).map(({ id }) => id);

function conditions({
  provider,
  assetId,
  providerVideoId,
  processed,
  reason,
  fromId,
  aboveId,
  belowId,
}: DeliveryFilter): Clause[] {
  return [
    ...(provider === undefined ? [] : [clause('provider')`and provider = ${provider}`]),
    ...(assetId === undefined ? [] : [clause('asset')`and asset_id = ${assetId}`]),
    ...(providerVideoId === undefined ? [] : [clause('video')`and provider_video_id = ${providerVideoId}`]),
    ...(processed === undefined ? [] : [clause('processed')`and processed = ${processed}`]),
    ...(reason === undefined ? [] : [clause('reason')`and reason = ${reason}`]),
    ...(fromId === undefined ? [] : [clause('from')`and id >= ${fromId}`]),
    ...(aboveId === undefined ? [] : [clause('above')`and id > ${aboveId}`]),
    ...(belowId === undefined ? [] : [clause('below')`and id < ${belowId}`]),
  ];
}

export const findDelivery = (db: Queries, id: string) =>
  db.one(sql('find delivery', deliveryRow)`select ${DELIVERY} from deliveries where id = ${id}`);
