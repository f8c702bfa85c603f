// The bytes of imports whose servers continue downloads: resumable uploads, which any worker continues.
import { randomUUID } from 'node:crypto';
import type { Bound } from '../../platform/bind.ts';
import { ServiceError } from '../../platform/http/errors.ts';
import type { ResumePoint } from '../../platform/outbound/range-response.ts';
import type { Download } from '../../platform/outbound/resumable-download.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { ImportRun } from './import-runs.ts';
import { recordPartial } from './imports.sql.ts';
import type { LeasedUpload } from '../original/leased-uploads.ts';
import type { createResumable, openResumable, terminateResumable } from '../tus/resumable-uploads.ts';

type PartialNeeds = {
  readonly db: Queries;
  readonly store: Pick<ObjectStore, 'partial'>;
  readonly createResumable: Bound<typeof createResumable>;
  readonly openResumable: Bound<typeof openResumable>;
  readonly terminateResumable: Bound<typeof terminateResumable>;
};

/** The upload that holds the bytes so far, and the file that they are from. */
export type PartialFile = {
  readonly uploadId: string;
  readonly validator: string;
  readonly totalBytes: number;
};

/** `from` is undefined if the upload is finished. */
type PartialImport = { readonly leased: LeasedUpload; readonly from: ResumePoint | undefined };

/** Undefined if no bytes are there to continue. Throws CONFLICT while a killed run holds the upload. */
export async function openPartial(
  needs: PartialNeeds,
  { asset, partial }: Pick<ImportRun, 'asset' | 'partial'>,
): Promise<PartialImport | undefined> {
  if (!partial) return undefined;
  const leased = await needs.openResumable(asset, partial.uploadId).catch(ignoreNotFound);
  if (!leased) return undefined;
  const { finished_at: finishedAt, bytes_received: offset } = leased.row;
  if (finishedAt) return { leased, from: undefined };
  if (offset > 0) return { leased, from: { ...partial, offset } };
  await discardPartial(needs, leased);
  return undefined;
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
}

/** Undefined if the server would not prove that a later response continues this one. */
export async function createPartial(
  { db, store, createResumable: create }: PartialNeeds,
  { asset, uploadId: runId }: ImportRun,
  { validator, totalBytes }: Pick<Download, 'validator' | 'totalBytes'>,
): Promise<LeasedUpload | undefined> {
  if (!store.partial || validator === undefined || !totalBytes) return undefined;
  const uploadId = randomUUID();
  const leased = await create(asset, { id: uploadId, sizeBytes: totalBytes });
  const file: PartialFile = { uploadId, validator, totalBytes };
  await recordPartial(db, { assetId: asset.id, uploadId: runId }, file);
  return leased;
}

/** The bytes are not those of the file any more. */
export async function discardPartial(
  { terminateResumable: terminate }: Pick<PartialNeeds, 'terminateResumable'>,
  leased: LeasedUpload,
): Promise<void> {
  await terminate(leased);
  await leased.release();
}
