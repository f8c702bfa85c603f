// The inbox: every verified delivery can be looked at and applied once more, first on trial (contract B6).
import type { Asset, AssetRef, ProviderName } from '../assets/asset.ts';
import { decide } from '../assets/change.ts';
import type { Outcome } from '../assets/delivery.ts';
import type { Cause } from '../assets/reports.ts';
import type { StreamReport } from '../assets/stream-report.ts';
import { badRequest, notFound } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { firstIdOf, isUuid } from '../platform/uuid.ts';
import { deliveriesToReplay, type DeliveryFilter, findDelivery, listDeliveries, type StoredDelivery } from './inbox.sql.ts';
import type { Provider } from './provider.ts';

export type InboxNeeds = {
  readonly db: Database;
  readonly providers: Readonly<Record<ProviderName, Provider>>;
  readonly apply: (report: StreamReport, cause: Cause) => Promise<Outcome | undefined>;
  readonly findRef: (ref: AssetRef) => Promise<Asset | undefined>;
  readonly now: () => Date;
};

export type Delivery = StoredDelivery;

/** As an operator writes it; times in ISO 8601, `received_after` included, `received_before` not. */
export type InboxQuery = {
  readonly provider?: ProviderName; readonly asset_id?: string; readonly provider_video_id?: string; readonly processed?: boolean; readonly reason?: string;
  readonly received_after?: string; readonly received_before?: string;
};

export async function list({ db }: InboxNeeds, query: InboxQuery, { limit, cursor }: { limit: number; cursor?: string | undefined }): Promise<{ items: Omit<Delivery, 'body' | 'headers'>[]; next: string | null }> {
  if (cursor !== undefined && !isUuid(cursor)) throw badRequest('cursor is not one that this list gave', { field: 'cursor' });
  const filter = filterOf(query);
  const rows = await listDeliveries(db, { ...filter, ...(cursor !== undefined && { belowId: cursor }) }, limit + 1);
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** With its bytes. */
export async function read({ db }: InboxNeeds, id: string): Promise<Delivery> {
  const found = isUuid(id) ? await findDelivery(db, id) : undefined;
  if (!found) throw notFound('No such delivery');
  return found;
}

/** One, or all that the filter names: what was, and what is or would be. */
export type Replaying = { readonly id?: string | undefined; readonly query: InboxQuery; readonly isDryRun: boolean; readonly limit: number };
export type Replayed = {
  readonly id: string; readonly asset_id: string | null; readonly processed: boolean; readonly reason: string;
  readonly stream_status_before: string | null; readonly stream_status_after: string | null; readonly changes: boolean;
};

/** Oldest first. On trial each delivery is held against the assets as they are now; none sees what the one before would do. */
export async function replay(needs: InboxNeeds, { id, query, isDryRun, limit }: Replaying): Promise<Replayed[]> {
  if (id === undefined && Object.values(query).every((value) => value === undefined)) throw badRequest('Name a delivery by id, or a filter', { field: 'id' });
  const deliveries = id === undefined ? await deliveriesToReplay(needs.db, filterOf(query), limit) : [await read(needs, id)];
  const replayed: Replayed[] = [];
  for (const delivery of deliveries) replayed.push(await replayOne(needs, delivery, isDryRun));
  return replayed;
}

async function replayOne(needs: InboxNeeds, delivery: Delivery, isDryRun: boolean): Promise<Replayed> {
  const reading = needs.providers[delivery.provider as ProviderName].read(delivery.body, { isOurs: delivery.is_ours });
  const unmatched = (reason: string) => ({ id: delivery.id, asset_id: null, processed: false, reason, stream_status_before: null, stream_status_after: null, changes: false });
  if ('reason' in reading) return unmatched(reading.reason);
  const asset = await needs.findRef(reading.ref);
  if (!asset) return unmatched('unknown_asset');
  const report: StreamReport = { ...reading.report, source: 'replay' };
  const { change, processed, reason } = decide(asset, report, needs.now());
  const told = { id: delivery.id, asset_id: asset.id, stream_status_before: asset.stream_status };
  if (isDryRun || !change) return { ...told, processed, reason, stream_status_after: change?.next.stream_status ?? asset.stream_status, changes: change !== undefined };
  const outcome = await needs.apply(report, { ref: { assetId: asset.id } });
  const after = await needs.findRef({ assetId: asset.id });
  return { ...told, ...(outcome ?? { processed: false, reason: 'unknown_asset' }), stream_status_after: after?.stream_status ?? null, changes: true };
}

function filterOf({ provider, asset_id, provider_video_id, processed, reason, received_after, received_before }: InboxQuery): DeliveryFilter {
  if (asset_id !== undefined && !isUuid(asset_id)) throw badRequest('asset_id must be a UUID', { field: 'asset_id' });
  return {
    provider, assetId: asset_id, providerVideoId: provider_video_id, processed, reason,
    fromId: idAt('received_after', received_after), belowId: idAt('received_before', received_before),
  };
}

function idAt(field: string, time: string | undefined): string | undefined {
  if (time === undefined) return undefined;
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw badRequest(`${field} must be a time in ISO 8601`, { field });
  return firstIdOf(Math.max(0, ms));
}
