// Erasures of owners: start, progress, and the receipt.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Erasure } from '@mediary/contract/schemas/admin/owners';
import type { Transaction } from '../platform/postgres/database.ts';
import { conflict, notFound } from '../platform/http/errors.ts';
import { uuidV7 } from '../platform/values/uuid-v7.ts';
import { isUuid } from '../platform/values/uuid.ts';
import type { OwnersContext } from './context.ts';
import * as queries from './erasure.sql.ts';
import type { ErasureRow, ItemRow } from './erasure.sql.ts';
import { deleteOwnerRows } from './erased-rows.sql.ts';
import { publicKeyOf, signStatement, toReceiptLines } from './receipt.ts';

type ErasureRequest = { readonly leavesVideos: boolean };

/** Returns the erasure of the owner that runs, or starts one. */
export async function startErasure(
  ctx: OwnersContext,
  owner: string,
  { leavesVideos }: ErasureRequest,
): Promise<Erasure> {
  const id = uuidV7();
  const row = await ctx.db.transaction(async (tx) => {
    await queries.lockOwner(tx, owner);
    const started = await queries.insertErasure(tx, {
      id,
      owner_user_id: owner,
      owner_sha256: digestOwner(id, owner),
      leaves_videos: leavesVideos,
    });
    if (started) await ctx.jobs.send(tx, 'erase-owner', { erasureId: id });
    return started ?? queries.findRunningErasure(tx, owner, leavesVideos);
  });
  if (!row) throw new Error('an erasure was neither started nor found');
  return toView(ctx, row);
}

/** Throws CONFLICT while everything of the owner is being erased. */
export async function assertNoErasure({ db }: OwnersContext, owner: string): Promise<void> {
  if (await queries.isBeingErased(db, owner))
    throw conflict('Everything of this owner is being erased. Import when the erasure is completed.', {
      field: 'owner_user_id',
      reason: 'owner_is_being_erased',
    });
}

/** The id of the erasure is the salt, so equal owners have different digests. */
const digestOwner = (erasureId: string, owner: string): string =>
  createHash('sha256').update(`${erasureId}:${owner}`).digest('hex');

export const getErasure = async (ctx: OwnersContext, owner: string, id: string): Promise<Erasure> =>
  toView(ctx, await findOwnErasure(ctx, owner, id));

async function findOwnErasure({ db }: OwnersContext, owner: string, id: string): Promise<ErasureRow> {
  const erasure = isUuid(id) ? await queries.findErasure(db, id) : undefined;
  if (!erasure || erasure.owner_sha256 !== digestOwner(erasure.id, owner))
    throw notFound('This owner has no such erasure');
  return erasure;
}

async function toView({ db }: OwnersContext, row: ErasureRow): Promise<Erasure> {
  const counts = await queries.countProgress(db, row.id);
  const { statement, signature, public_key } = row;
  return {
    id: row.id,
    status: row.completed_at ? 'completed' : 'running',
    phase: row.phase as Erasure['phase'],
    counts: {
      asset_count: counts?.assets ?? 0,
      removed_asset_count: counts?.confirmed ?? 0,
      provider_video_count: counts?.videos ?? 0,
      removed_provider_video_count: counts?.videos_removed ?? 0,
    },
    waiting: row.waiting as Erasure['waiting'],
    requested_at: row.requested_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
    receipt:
      statement !== null && signature !== null && public_key !== null
        ? { statement, signature, public_key }
        : null,
  };
}

/** The keys whose receipts this service has signed, the current one first. */
export const listReceiptKeys = ({ urlSecrets }: OwnersContext): string[] => [
  ...new Set(urlSecrets.map(publicKeyOf)),
];

const PAGE = 500;

async function* linesOf({ db }: OwnersContext, erasureId: string): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const items: ItemRow[] =
      after === undefined
        ? await queries.listFirstItems(db, erasureId, PAGE)
        : await queries.listItems(db, erasureId, { after, limit: PAGE });
    yield items.map(toLines).join('');
    after = items[PAGE - 1]?.asset_id;
    if (after === undefined) return;
  }
}

const toLines = ({ asset_id, removed, ...item }: ItemRow): string =>
  toReceiptLines({
    ...item,
    asset_id: asset_id === queries.NO_ASSET ? null : asset_id,
    removed: removed as Readonly<Record<string, number>>,
  });

/** The lines of a completed erasure, and its signed statement as the last one. */
export async function openReceipt(
  ctx: OwnersContext,
  owner: string,
  id: string,
): Promise<Readable | undefined> {
  const { statement, signature, public_key } = await findOwnErasure(ctx, owner, id);
  if (statement === null) return undefined;
  const last = `${JSON.stringify({ statement, signature, public_key })}\n`;
  return Readable.from(withLast(linesOf(ctx, id.toLowerCase()), last));
}

async function* withLast(lines: AsyncIterable<string>, last: string): AsyncGenerator<string> {
  yield* lines;
  yield last;
}

/** Signs the receipt. What came to be of the owner since the last step goes in the same transaction. */
export async function completeErasure(ctx: OwnersContext, erasure: ErasureRow, owner: string): Promise<void> {
  const [root] = ctx.urlSecrets;
  if (!root) throw new Error('no URL signing secret');
  const hasher = createHash('sha256');
  let lines = 0;
  for await (const text of linesOf(ctx, erasure.id)) {
    hasher.update(text);
    lines += text.split('\n').length - 1;
  }
  const counts = await queries.countProgress(ctx.db, erasure.id);
  const completedAt = await queries.databaseNow(ctx.db);
  const signed = signStatement(root, {
    type: 'mediary.owner-erasure.v1',
    erasure_id: erasure.id,
    owner_sha256: erasure.owner_sha256,
    requested_at: erasure.requested_at.toISOString(),
    completed_at: completedAt.toISOString(),
    assets: counts?.assets ?? 0,
    lines,
    lines_sha256: hasher.digest('hex'),
  });
  await ctx.db.transaction(async (tx: Transaction) => {
    await deleteOwnerRows(tx, owner);
    await queries.completeErasure(tx, { id: erasure.id, completed_at: completedAt, ...signed });
  });
}
