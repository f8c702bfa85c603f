// Counts what every owner stores, in short statements, and ranks the owners by it for operators.
import type { Owner } from '@mediary/contract/schemas/admin/owner-totals';
import { createPositionCursor, readPositionCursor } from '../auth/list-cursor.ts';
import { parsePlainText } from '../platform/values/plain-text.ts';
import type { UsageContext } from './context.ts';
import {
  beginOwnerCount,
  countMoreAssets,
  countNextOwners,
  endOwnerCount,
  listRankedOwners,
  type OwnerTotal,
  recordOwnerTotals,
} from './owner-totals.sql.ts';
import { getOwnerUsage } from './usage.ts';

/** A statement reads at most OWNERS × FEW assets, or MANY of one owner: some 100 ms. */
const OWNERS = 50;
const FEW = 1000;
const MANY = 50_000;
const MAX_SHARE = 0.02;

/** Does nothing while the last count took more than its share of the time since. */
export async function countOwners({ db }: UsageContext, signal: AbortSignal): Promise<void> {
  const begun = await beginOwnerCount(db, MAX_SHARE);
  if (!begun) return;
  let after = '';
  for (;;) {
    signal.throwIfAborted();
    const found = await countNextOwners(db, { after, owners: OWNERS, max: FEW });
    const totals: OwnerTotal[] = [];
    for (const { last_id: lastId, ...counted } of found)
      totals.push(counted.assets === FEW && lastId !== null ? await countRest(db, counted, lastId) : counted);
    await recordOwnerTotals(db, totals);
    if (found.length < OWNERS) break;
    after = totals.at(-1)?.owner_user_id ?? after;
  }
  await endOwnerCount(db, begun.started_at);
}

async function countRest(db: UsageContext['db'], counted: OwnerTotal, lastId: string): Promise<OwnerTotal> {
  const total = { ...counted };
  let afterId: string | null = lastId;
  while (afterId !== null) {
    const more = await countMoreAssets(db, { owner: counted.owner_user_id, afterId, max: MANY });
    total.assets += more?.assets ?? 0;
    total.bytes += more?.bytes ?? 0;
    total.pending += more?.pending ?? 0;
    afterId = more?.assets === MANY ? more.last_id : null;
  }
  return total;
}

type OwnerQuery = {
  readonly search?: string;
  readonly sort?: 'bytes' | 'assets';
  readonly limit: number;
  readonly cursor?: string;
};

/** As the latest count found them. */
export async function listOwners(
  { db, urlSecrets }: UsageContext,
  { search, sort = 'bytes', limit, cursor }: OwnerQuery,
): Promise<{ items: Owner[]; next_cursor: string | null }> {
  const text = parsePlainText('search', search);
  const scope = { list: 'owners', search: text, sort };
  const [amount, owner] = cursor === undefined ? [] : readPositionCursor(urlSecrets, scope, cursor);
  const rows = await listRankedOwners(db, {
    sort,
    pattern: text === undefined ? undefined : `%${text.replace(/[\\%_]/g, '\\$&')}%`,
    after: owner === undefined ? undefined : { amount: Number(amount), owner: String(owner) },
    limit: limit + 1,
  });
  const items = rows
    .slice(0, limit)
    .map(({ counted_at, ...row }) => ({ ...row, counted_at: counted_at.toISOString() }));
  const last = rows.length > limit ? items.at(-1) : undefined;
  const next = last && createPositionCursor(urlSecrets, scope, [last[sort], last.owner_user_id]);
  return { items, next_cursor: next ?? null };
}

/** As it is now. */
export async function getOwner(ctx: UsageContext, owner: string): Promise<Owner> {
  const { usage, limits } = await getOwnerUsage(ctx, owner);
  return {
    owner_user_id: owner,
    ...usage,
    max_bytes: limits.bytes,
    max_assets: limits.assets,
    max_pending: limits.pending,
    counted_at: new Date().toISOString(),
  };
}
