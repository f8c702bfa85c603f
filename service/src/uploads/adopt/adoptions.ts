// Adopts files that already lie in the operator's storage: assets whose original the store copies by itself
// (contract B11).
import type { ErrorReason } from '@mediary/contract/errors';
import type { AdoptionRequest } from '@mediary/contract/schemas/admin/adoptions';
import { type Actor, toActorData } from '../../assets/asset-event.ts';
import type { Asset } from '../../assets/asset.ts';
import { parseOwnerId } from '../../auth/user-id.ts';
import { badRequest, type ServiceError } from '../../platform/http/errors.ts';
import {
  SourceError,
  type SourceErrorReason,
  type SourceObject,
  type SourceObjects,
} from '../../storage/object-store.ts';
import type { UploadsContext } from '../context.ts';
import { createUnlessExists } from '../duplicates.ts';
import { insertImport } from '../import/imports.sql.ts';
import { createAsset, toOpenAsset } from '../new-asset.ts';
import { type NewUpload, toNewAsset } from '../upload-request.ts';
import { toExternalId, toUploadRequest } from './adoption-request.ts';

type AdoptedAsset = { readonly asset: Asset | null; readonly isExisting: boolean };

/** Repeating a request returns its asset. A dry run checks the request and the source alone. */
export async function adoptObject(ctx: UploadsContext, request: AdoptionRequest): Promise<AdoptedAsset> {
  const ownerUserId = parseOwnerId(request.owner_user_id);
  const actor: Actor = { caller: { kind: 'service', isOperator: true }, ownerUserId };
  const externalId = toExternalId(request);
  return createUnlessExists<AdoptedAsset>(ctx, {
    actor,
    externalId,
    ifExists: 'return',
    create: async () => {
      const upload = await checkRequest(ctx, { ...request, external_id: externalId });
      const asset = request.dry_run === true ? null : await openAdoption(ctx, { actor, upload, request });
      return { asset, isExisting: false };
    },
    useExisting: async (asset) => ({ asset, isExisting: true }),
  });
}

async function checkRequest(ctx: UploadsContext, request: AdoptionRequest): Promise<NewUpload> {
  const source = await findSource(ctx, request.source);
  const upload = toNewAsset(toUploadRequest(request, source, ctx.intake.mediaTypes), {
    isService: true,
    limits: ctx.settings.newAssets,
    now: ctx.clocks.now(),
  });
  if (request.delete_source === true && ctx.providers.isHosted(upload))
    throw badRequest(
      `delete_source is not for videos of provider ${upload.provider}, which the service does not keep`,
      { field: 'delete_source', reason: 'invalid_value' },
    );
  return upload;
}

/** Throws BAD_REQUEST. */
async function findSource(ctx: UploadsContext, url: string): Promise<SourceObject> {
  try {
    return await getSources(ctx).find(url);
  } catch (error) {
    throw error instanceof SourceError ? toRequestError(error) : error;
  }
}

const toRequestError = ({ message, reason }: SourceError): ServiceError =>
  badRequest(`${message}.`, { field: 'source', reason: REASONS[reason] ?? 'source_unreadable' });

const REASONS: Readonly<Partial<Record<SourceErrorReason, ErrorReason>>> = {
  source_invalid: 'invalid_value',
  source_refused: 'source_refused',
};

/** Throws SourceError on a process without ADOPT_SOURCES. */
export function getSources({ store }: UploadsContext): SourceObjects {
  if (store.sources) return store.sources;
  throw new SourceError('source_refused', 'source is refused: ADOPT_SOURCES names no place');
}

type NewAdoption = {
  readonly actor: Actor;
  readonly upload: NewUpload;
  readonly request: AdoptionRequest;
};

/** Creates the asset, and in the same transaction its source and the job that copies it. */
async function openAdoption(ctx: UploadsContext, { actor, upload, request }: NewAdoption): Promise<Asset> {
  const { ownerUserId } = actor;
  const newAsset = toOpenAsset(ctx, upload, { ownerUserId });
  const { id: assetId, upload_expires_at: expiresAt } = newAsset;
  const { source: url, delete_source: deletesSource } = request;
  return createAsset(ctx, newAsset, {
    data: { ...toActorData(actor, newAsset), adopted: true },
    alongside: async (tx) => {
      await insertImport(tx, { assetId, url, headers: {}, expiresAt, deletesSource });
      await ctx.jobs.sendFor(tx, ownerUserId, { name: 'adopt-asset', payload: { assetId, attempt: 1 } });
    },
  });
}
