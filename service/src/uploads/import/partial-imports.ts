// The bytes of imports whose servers continue downloads: resumable uploads, which any worker continues.
import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../platform/http/errors.ts';
import type { ResumePoint } from '../../platform/outbound/range-response.ts';
import type { Download } from '../../platform/outbound/resumable-download.ts';
import type { UploadsContext } from '../context.ts';
import type { LeasedUpload } from '../original/leased-uploads.ts';
import { createResumable, openResumable, terminateResumable } from '../tus/resumable-uploads.ts';
import type { ImportRun, PartialFile } from './import-runs.ts';
import { recordPartial } from './imports.sql.ts';

/** `from` is undefined if the upload is finished. */
type PartialImport = { readonly leased: LeasedUpload; readonly from: ResumePoint | undefined };

/** Undefined if no bytes are there to continue. Throws CONFLICT while a killed run holds the upload. */
export async function openPartial(
  ctx: UploadsContext,
  { asset, partial }: Pick<ImportRun, 'asset' | 'partial'>,
): Promise<PartialImport | undefined> {
  if (!partial) return undefined;
  const leased = await openResumable(ctx, asset, partial.uploadId).catch(ignoreNotFound);
  if (!leased) return undefined;
  const { finished_at: finishedAt, bytes_received: offset } = leased.row;
  if (finishedAt) return { leased, from: undefined };
  if (offset > 0) return { leased, from: { ...partial, offset } };
  await discardPartial(ctx, leased);
  return undefined;
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
}

/** Undefined if the server would not prove that a later response continues this one. */
export async function createPartial(
  ctx: UploadsContext,
  { asset, uploadId: runId }: ImportRun,
  { validator, totalBytes }: Pick<Download, 'validator' | 'totalBytes'>,
): Promise<LeasedUpload | undefined> {
  if (!ctx.store.partial || validator === undefined || !totalBytes) return undefined;
  const uploadId = randomUUID();
  const leased = await createResumable(ctx, asset, { id: uploadId, sizeBytes: totalBytes });
  const file: PartialFile = { uploadId, validator, totalBytes };
  try {
    await recordPartial(ctx.db, { assetId: asset.id, uploadId: runId }, file);
    return leased;
  } catch (error) {
    await leased.release();
    throw error;
  }
}

/** The bytes are not those of the file any more. */
export async function discardPartial(ctx: UploadsContext, leased: LeasedUpload): Promise<void> {
  try {
    await terminateResumable(ctx, leased);
  } finally {
    // A lease that is kept would be renewed for as long as this process runs.
    await leased.release();
  }
}
