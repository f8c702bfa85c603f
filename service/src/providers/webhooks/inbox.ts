// Lists stored webhook deliveries and replays them, optionally as a dry run (contract B6).
import { isDeepStrictEqual } from 'node:util';
import type { DeliveryReason } from '@mediary/contract/enums';
import type { ReplayResult } from '@mediary/contract/schemas/admin/operators';
import type { Asset, AssetRef, ProviderName } from '../../assets/asset.ts';
import { parseIdAt } from '../../assets/text-limits.ts';
import { parsePlainText } from '../../platform/values/plain-text.ts';
import { type CursorScope, createCursor, readCursor } from '../../auth/list-cursor.ts';
import type { Secret } from '../../auth/secret.ts';
import type { AssetChange } from '../../lifecycle/decisions/change.ts';
import { decideReport } from '../../lifecycle/decisions/decide.ts';
import type { StreamReport } from '../../lifecycle/decisions/stream-report.ts';
import { badRequest, notFound } from '../../platform/http/errors.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import {
  type DeliveryFilter,
  findDelivery,
  listDeliveries,
  listDeliveryIds,
  type StoredDelivery,
} from './inbox.sql.ts';
import type { ProvidersContext } from '../context.ts';
import { getProvider } from '../provider.ts';

export type ListedDelivery = Omit<StoredDelivery, 'body' | 'headers'>;
type PageRequest = { readonly limit: number; readonly cursor?: string | undefined };
type Page<Item> = { readonly items: Item[]; readonly next: string | null };

/** Filter of a request. Times are in ISO 8601; `created_after` and `created_before` are exclusive. */
export type InboxQuery = {
  readonly provider?: ProviderName;
  readonly asset_id?: string;
  readonly provider_video_id?: string;
  readonly processed?: boolean;
  readonly reason?: string;
  readonly created_after?: string;
  readonly created_before?: string;
};

/** Newest first. */
export async function listDeliveryPage(
  { db, urlSecrets }: ProvidersContext,
  query: InboxQuery,
  request: PageRequest,
): Promise<Page<ListedDelivery>> {
  const { limit } = request;
  const filter = toFilter(query);
  const cursors = createCursors(urlSecrets, { list: 'deliveries', ...filter });
  const belowId = cursors.read(request);
  const rows = await listDeliveries(db, { ...filter, ...(belowId !== undefined && { belowId }) }, limit + 1);
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? cursors.createAfter(items) : null };
}

/** Includes the raw body. */
export async function getDelivery({ db }: ProvidersContext, id: string): Promise<StoredDelivery> {
  const delivery = isUuid(id) ? await findDelivery(db, id) : undefined;
  if (!delivery) throw notFound('No such delivery');
  return delivery;
}

/** One delivery, or a page of all that match the filter. */
type ReplayRequest = PageRequest & {
  readonly id?: string | undefined;
  readonly query: InboxQuery;
  readonly isDryRun: boolean;
};
/** The previous and the new outcome of a delivery. */
type ReplayOutcome = ReplayResult['items'][number];

type DryRun = {
  /** By id, as the previous deliveries would leave them. */
  readonly assets: Map<string, Asset>;
  /** Later for each delivery, so that times change as they do when deliveries are applied. */
  readonly now: Date;
};

/** Oldest first. A dry run applies each delivery to the result of the previous ones. */
export async function replayDeliveries(
  ctx: ProvidersContext,
  request: ReplayRequest,
): Promise<Page<ReplayOutcome>> {
  const { isDryRun, limit, query } = request;
  const cursors = createCursors(ctx.urlSecrets, { list: 'replay', ...toFilter(query) });
  const ids = await listReplayIds(ctx, request, cursors.read(request));
  const assets = new Map<string, Asset>();
  const startMs = ctx.clocks.now().getTime();
  const items: ReplayOutcome[] = [];
  for (const id of ids.slice(0, limit)) {
    const dryRun = isDryRun ? { assets, now: new Date(startMs + items.length) } : undefined;
    items.push(await replayDelivery(ctx, await getDelivery(ctx, id), dryRun));
  }
  return { items, next: ids.length > limit ? cursors.createAfter(items) : null };
}

/** Reads one more than the page size, to detect further pages. */
async function listReplayIds(
  { db }: ProvidersContext,
  { id, query, limit }: Omit<ReplayRequest, 'isDryRun'>,
  aboveId: string | undefined,
): Promise<string[]> {
  if (id !== undefined) return [id];
  const filter = toFilter(query);
  if (Object.values(filter).every((value) => value === undefined))
    throw badRequest('Name a delivery by id, or a filter', { field: 'id' });
  return listDeliveryIds(db, { ...filter, aboveId }, limit + 1);
}

async function replayDelivery(
  ctx: ProvidersContext,
  { id, provider, body, is_own_encoder: isOwnEncoder }: StoredDelivery,
  dryRun: DryRun | undefined,
): Promise<ReplayOutcome> {
  const parsed = getProvider(ctx.registry, provider).parse(body, { isOwnEncoder });
  if ('reason' in parsed) return { ...UNMATCHED, id, reason: parsed.reason };
  const found = await ctx.lifecycle.findReportedAsset(parsed.ref);
  if (!found) return { ...UNMATCHED, id, reason: await findMismatch(ctx, parsed.ref) };
  const asset = dryRun?.assets.get(found.id) ?? found;
  const report: StreamReport = { ...parsed.report, source: 'replay' };
  const { change, ...predicted } = decideReport(asset, report, dryRun?.now ?? ctx.clocks.now());
  const before = {
    id,
    asset_id: asset.id,
    stream_status_before: asset.stream_status,
    changes: listChanges(asset, change),
  };
  if (dryRun || !change) {
    const after = { ...asset, ...change?.set };
    dryRun?.assets.set(asset.id, after);
    return { ...before, ...predicted, stream_status_after: after.stream_status };
  }
  const outcome = (await ctx.lifecycle.applyReport(report, { ref: { assetId: asset.id } })) ?? predicted;
  const after = await ctx.lifecycle.findReportedAsset({ assetId: asset.id });
  return { ...before, ...outcome, stream_status_after: after?.stream_status ?? null };
}

/** A report on a provider's video waits for the asset that is linked to it. */
const findMismatch = async ({ lifecycle }: ProvidersContext, ref: AssetRef): Promise<DeliveryReason> =>
  'providerVideoId' in ref && !(await lifecycle.isErased(ref)) ? 'parked' : 'unknown_asset';

const UNMATCHED = {
  asset_id: null,
  processed: false,
  stream_status_before: null,
  stream_status_after: null,
  changes: [],
} satisfies Omit<ReplayOutcome, 'id' | 'reason'>;

/** Internal columns that are not part of the asset's representation. */
const HIDDEN_COLUMNS = [
  'reconcile_at',
  'encode_run',
  'encoded_run',
  'encode_interruptions',
  'delayed_attempt',
  'settled',
  'refused',
];

const listChanges = (asset: Asset, change: AssetChange | undefined): string[] =>
  Object.entries(change?.set ?? {})
    .filter(
      ([name, value]) =>
        !HIDDEN_COLUMNS.includes(name) && !isDeepStrictEqual(asset[name as keyof Asset], value),
    )
    .map(([name]) => name);

const createCursors = (secrets: readonly Secret[], scope: CursorScope) => ({
  read: ({ cursor }: PageRequest): string | undefined =>
    cursor === undefined ? undefined : readCursor(secrets, scope, cursor),
  createAfter: (page: readonly { readonly id: string }[]): string | null => {
    const last = page.at(-1);
    return last ? createCursor(secrets, scope, last.id) : null;
  },
});

function toFilter({
  provider,
  asset_id,
  provider_video_id,
  processed,
  reason,
  created_after,
  created_before,
}: InboxQuery): DeliveryFilter {
  if (asset_id !== undefined && !isUuid(asset_id))
    throw badRequest('asset_id must be a UUID', { field: 'asset_id' });
  return {
    provider,
    processed,
    assetId: asset_id,
    providerVideoId: parsePlainText('provider_video_id', provider_video_id),
    reason: parsePlainText('reason', reason),
    fromId: parseIdAt('created_after', created_after, (ms) => Math.floor(ms) + 1),
    belowId: parseIdAt('created_before', created_before, Math.ceil),
  };
}
