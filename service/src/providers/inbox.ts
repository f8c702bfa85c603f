// The inbox: lists stored webhook deliveries and replays them, optionally as a dry run (contract B6).
import type { ReplayResult } from '@mediary/contract/schemas/operators';
import { isDeepStrictEqual } from 'node:util';
import type { Asset, AssetRef, ProviderName } from '../assets/asset.ts';
import type { Change } from '../lifecycle/change.ts';
import { decideReport } from '../lifecycle/decide.ts';
import { type CursorScope, createCursor, readCursor } from '../auth/list-cursor.ts';
import type { Secret } from '../auth/secret.ts';
import { parseIdAt, parsePlainText } from '../assets/query-values.ts';
import type { Cause } from '../lifecycle/reports.ts';
import type { Outcome, StreamReport } from '../lifecycle/stream-report.ts';
import { badRequest, notFound } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import { isUuid } from '../platform/uuid.ts';
import {
  deliveriesInOrder,
  type DeliveryFilter,
  findDelivery,
  listDeliveries,
  type StoredDelivery,
} from './inbox.sql.ts';
import { getProvider, type Providers } from './provider.ts';

type InboxNeeds = {
  readonly db: Database;
  readonly providers: Providers;
  readonly applyReport: (report: StreamReport, cause: Cause) => Promise<Outcome | undefined>;
  readonly findReportedAsset: (ref: AssetRef) => Promise<Asset | undefined>;
  readonly now: () => Date;
  readonly urlSecrets: readonly Secret[];
};

export type Delivery = StoredDelivery;
export type ListedDelivery = Omit<Delivery, 'body' | 'headers'>;
export type Paging = { readonly limit: number; readonly cursor?: string | undefined };

/** Filter of a request. Times are in ISO 8601; `received_after` is inclusive, `received_before` is exclusive. */
export type InboxQuery = {
  readonly provider?: ProviderName;
  readonly asset_id?: string;
  readonly provider_video_id?: string;
  readonly processed?: boolean;
  readonly reason?: string;
  readonly received_after?: string;
  readonly received_before?: string;
};

/** Newest first. */
export async function list(
  { db, urlSecrets }: InboxNeeds,
  query: InboxQuery,
  paging: Paging,
): Promise<{ items: ListedDelivery[]; next: string | null }> {
  const { limit } = paging;
  const filter = filterOf(query);
  const cursors = cursorsOf(urlSecrets, { list: 'deliveries', ...filter });
  const cursor = cursors.read(paging);
  const rows = await listDeliveries(
    db,
    { ...filter, ...(cursor !== undefined && { belowId: cursor }) },
    limit + 1,
  );
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? cursors.after(items) : null };
}

/** Includes the raw body. */
export async function read({ db }: InboxNeeds, id: string): Promise<Delivery> {
  const found = isUuid(id) ? await findDelivery(db, id) : undefined;
  if (!found) throw notFound('No such delivery');
  return found;
}

/** Replays one delivery, or a page of all that match the filter; returns the previous and the new outcome. */
export type Replaying = Paging & {
  readonly id?: string | undefined;
  readonly query: InboxQuery;
  readonly isDryRun: boolean;
};
export type Replayed = ReplayResult['items'][number];

/** State of assets after the previous deliveries of a dry run, by id. */
type Trial = Map<string, Asset>;

/** Oldest first. A dry run applies each delivery to the result of the previous ones, so that it predicts the replay of the page. */
export async function replay(
  needs: InboxNeeds,
  { isDryRun, ...wish }: Replaying,
): Promise<{ items: Replayed[]; next: string | null }> {
  const cursors = cursorsOf(needs.urlSecrets, { list: 'replay', ...filterOf(wish.query) });
  const ids = await idsOf(needs, wish, cursors.read(wish));
  const trial: Trial | undefined = isDryRun ? new Map() : undefined;
  const items: Replayed[] = [];
  for (const id of ids.slice(0, wish.limit)) items.push(await replayOne(needs, await read(needs, id), trial));
  return { items, next: ids.length > wish.limit ? cursors.after(items) : null };
}

/** Reads one more than the page size, to detect further pages. */
async function idsOf(
  { db }: InboxNeeds,
  { id, query, limit }: Omit<Replaying, 'isDryRun'>,
  aboveId: string | undefined,
): Promise<string[]> {
  if (id !== undefined) return [id];
  const filter = filterOf(query);
  if (Object.values(filter).every((value) => value === undefined))
    throw badRequest('Name a delivery by id, or a filter', { field: 'id' });
  return deliveriesInOrder(db, { ...filter, aboveId }, limit + 1);
}

async function replayOne(
  needs: InboxNeeds,
  { id, provider, body, is_ours: isOurs }: Delivery,
  trial: Trial | undefined,
): Promise<Replayed> {
  const reading = getProvider(needs.providers, provider).read(body, { isOurs });
  if ('reason' in reading) return { ...UNMATCHED, id, reason: reading.reason };
  const found = await needs.findReportedAsset(reading.ref);
  if (!found) return { ...UNMATCHED, id };
  const asset = trial?.get(found.id) ?? found;
  const report: StreamReport = { ...reading.report, source: 'replay' };
  const { change, ...foreseen } = decideReport(asset, report, needs.now());
  const told = {
    id,
    asset_id: asset.id,
    stream_status_before: asset.stream_status,
    changes: namesOf(asset, change),
  };
  if (trial || !change) {
    trial?.set(asset.id, { ...asset, ...change?.set });
    return { ...told, ...foreseen, stream_status_after: { ...asset, ...change?.set }.stream_status };
  }
  const outcome = (await needs.applyReport(report, { ref: { assetId: asset.id } })) ?? foreseen;
  return {
    ...told,
    ...outcome,
    stream_status_after: (await needs.findReportedAsset({ assetId: asset.id }))?.stream_status ?? null,
  };
}

const UNMATCHED = {
  asset_id: null,
  processed: false,
  reason: 'unknown_asset',
  stream_status_before: null,
  stream_status_after: null,
  changes: [],
} satisfies Omit<Replayed, 'id'>;

/** Internal members that are not part of the asset's representation. */
const HIDDEN = ['reconcile_at', 'encode_try', 'encoded_try', 'settled', 'refused'];

const namesOf = (asset: Asset, change: Change | undefined): string[] =>
  Object.entries(change?.set ?? {})
    .filter(
      ([name, value]) => !HIDDEN.includes(name) && !isDeepStrictEqual(asset[name as keyof Asset], value),
    )
    .map(([name]) => name);

const cursorsOf = (secrets: readonly Secret[], scope: CursorScope) => ({
  read: ({ cursor }: Paging): string | undefined =>
    cursor === undefined ? undefined : readCursor(secrets, scope, cursor),
  after: (page: readonly { readonly id: string }[]): string | null => {
    const last = page.at(-1);
    return last ? createCursor(secrets, scope, last.id) : null;
  },
});

function filterOf({
  provider,
  asset_id,
  provider_video_id,
  processed,
  reason,
  received_after,
  received_before,
}: InboxQuery): DeliveryFilter {
  if (asset_id !== undefined && !isUuid(asset_id))
    throw badRequest('asset_id must be a UUID', { field: 'asset_id' });
  return {
    provider,
    processed,
    assetId: asset_id,
    providerVideoId: parsePlainText('provider_video_id', provider_video_id),
    reason: parsePlainText('reason', reason),
    fromId: parseIdAt('received_after', received_after, Math.ceil),
    belowId: parseIdAt('received_before', received_before, Math.ceil),
  };
}
