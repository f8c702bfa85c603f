// Resumable uploads: creates, opens and terminates them (contract B4).
import { randomUUID } from 'node:crypto';
import type { Asset } from '../../assets/asset.ts';
import { conflict, notFound } from '../../platform/http/errors.ts';
import type { Transaction } from '../../platform/postgres/database.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import { isClosed, takesBytes } from '../byte-rules.ts';
import type { UploadsContext } from '../context.ts';
import { findByteLimit } from '../original/byte-limit.ts';
import {
  discardIdleUploads,
  type LeasedUpload,
  leaseUpload,
  removeHeldUpload,
  startLease,
} from '../original/leased-uploads.ts';
import { insertOpenUpload } from '../original/open-uploads.ts';
import { assertLength, inProgress, toClosedError, tooLarge } from '../original/upload-errors.ts';
import { countPartials } from './concatenation.sql.ts';
import { finishResumable } from './resumable-bytes.ts';
import { declareLength, insertResumable } from './resumable-uploads.sql.ts';
import { assertPartialLength, MAX_PARTIALS, tooManyPartials } from './upload-concat.ts';

/** Clients that lose the URL of an upload create another one. */
const MAX_OPEN = 3;

type NewTusUpload = {
  readonly id: string;
  readonly sizeBytes: number | undefined;
  /** A part of a file, which a final upload joins with others. */
  readonly isPartial?: boolean;
};

/** Creates an upload whose lease this request has. */
export async function createResumable(
  ctx: UploadsContext,
  asset: Asset,
  { id, sizeBytes, isPartial = false }: NewTusUpload,
): Promise<LeasedUpload> {
  const maxBytes = asset.announced_size_bytes ?? ctx.settings.maxUploadBytes;
  if (isPartial) assertPartialLength(sizeBytes, maxBytes);
  else assertLength(asset, sizeBytes, ctx.settings.maxUploadBytes);
  await findByteLimit(ctx, asset, { length: sizeBytes });
  await ctx.admission.requireDatabaseSpace();
  if (!isPartial) await discardIdleUploads(ctx, asset.id, MAX_OPEN - 1);
  const lease = { upload: id, holder: randomUUID() };
  const expiresAt = new Date(ctx.clocks.now().getTime() + ctx.settings.uploadTtlSeconds * 1000);
  const concatenation = isPartial ? ('partial' as const) : null;
  const maxOpen = isPartial ? MAX_PARTIALS : MAX_OPEN;
  const upload = { lease, sizeBytes: sizeBytes ?? null, expiresAt, concatenation, maxOpen };
  const row = await insertOpenUpload(ctx, asset, async (tx) => {
    if (isPartial) await assertRoom(tx, asset, { bytes: sizeBytes ?? 0, maxBytes });
    return insertResumable(tx, asset, upload);
  });
  return startLease(ctx, { lease, row });
}

/**
 * The bytes of partial uploads are limited as those of whole ones: a client that lost their URLs creates
 * others. None is removed for it, because an idle one may belong to the same file.
 */
async function assertRoom(
  tx: Transaction,
  asset: Asset,
  { bytes, maxBytes }: { readonly bytes: number; readonly maxBytes: number },
): Promise<void> {
  const opened = await countPartials(tx, asset);
  if (!opened) return;
  if (opened.open >= MAX_PARTIALS) throw tooManyPartials();
  if (opened.bytes + bytes > MAX_OPEN * maxBytes) throw tooLarge(maxBytes);
}

/** Holds an upload that exists and has not expired; finishes it if only that is missing. */
export async function openResumable(ctx: UploadsContext, asset: Asset, id: string): Promise<LeasedUpload> {
  const leased = isUuid(id) ? await leaseUpload(ctx, asset.id, id) : undefined;
  if (!leased) throw notFound('No such upload. Create another one.');
  try {
    return await checkResumable(ctx, asset, leased);
  } catch (error) {
    await leased.release();
    throw error;
  }
}

async function checkResumable(
  ctx: UploadsContext,
  asset: Asset,
  leased: LeasedUpload,
): Promise<LeasedUpload> {
  const { row } = leased;
  if (row.finished_at) return leased;
  if (row.expires_at <= ctx.clocks.now()) throw notFound('The upload has expired. Create another one.');
  if (isClosed(asset, row.attempt)) await terminateResumable(ctx, leased);
  if (!takesBytes(asset, row.attempt)) throw toClosedError(asset);
  if (row.size_bytes !== row.bytes_received || row.concatenation === 'partial') return leased;
  await finishResumable(ctx, asset, leased);
  return { ...leased, row: { ...row, finished_at: ctx.clocks.now() } };
}

/** Announces the length of an upload that was created without one. */
export async function declareResumable(
  ctx: UploadsContext,
  asset: Asset,
  { leased, sizeBytes }: { readonly leased: LeasedUpload; readonly sizeBytes: number },
): Promise<LeasedUpload> {
  assertLength(asset, sizeBytes, ctx.settings.maxUploadBytes);
  await findByteLimit(ctx, asset, { length: sizeBytes, received: leased.row.bytes_received });
  const row = await declareLength(ctx.db, leased.lease, sizeBytes);
  if (!row) throw inProgress();
  return { ...leased, row };
}

/** Removes an upload and its bytes. */
export async function terminateResumable(ctx: UploadsContext, leased: LeasedUpload): Promise<void> {
  if (leased.row.finished_at)
    throw conflict('The bytes of this asset are already stored', { reason: 'already_uploaded' });
  ctx.intake.checksums.forget(leased.row.id);
  await removeHeldUpload(ctx, leased.row.asset_id, leased.lease);
}
