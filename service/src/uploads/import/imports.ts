// Creates imports: assets whose bytes the service downloads from a URL (contract B4).
import type { ExistingAssetRule } from '@mediary/contract/enums';
import type { ImportRequest } from '@mediary/contract/schemas/imports';
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import { type Actor, toActorData } from '../../assets/asset-event.ts';
import type { Asset } from '../../assets/asset.ts';
import { badRequest, payloadTooLarge, type ServiceError } from '../../platform/http/errors.ts';
import {
  type AddressRefusal,
  parseOutboundUrl,
  URL_REASONS,
} from '../../platform/outbound/address-policy.ts';
import type { OutboundResponse } from '../../platform/outbound/guarded-fetch.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { findInvalidHeader, type OutboundHeaders } from '../../platform/outbound/outbound-headers.ts';
import type { UploadsContext } from '../context.ts';
import { createUnlessExists } from '../duplicates.ts';
import { createAsset, toOpenAsset } from '../new-asset.ts';
import { type NewAssetRules, toNewAsset } from '../upload-request.ts';
import { describeProblem } from './import-failure.ts';
import { describeSource, type ImportSource } from './import-source.ts';
import { insertImport } from './imports.sql.ts';

/** `resourceId`: the id for the asset if the request carries an Idempotency-Key. */
type CreateImportInput = {
  readonly actor: Actor;
  readonly request: ImportRequest;
  readonly resourceId: string | undefined;
  readonly ifExists?: ExistingAssetRule | undefined;
};

/** The file at its source; the URL and the headers may hold credentials. */
type ImportedFile = { readonly url: URL; readonly headers: OutboundHeaders; readonly ownerUserId: string };

export const createImport = (ctx: UploadsContext, input: CreateImportInput): Promise<Asset> =>
  createUnlessExists(ctx, {
    actor: input.actor,
    externalId: input.request.external_id,
    ifExists: input.ifExists,
    create: () => openImport(ctx, input),
    useExisting: (asset) => Promise.resolve(asset),
  });

/** Creates the asset, and in the same transaction its source and the job that downloads it. */
async function openImport(
  ctx: UploadsContext,
  { actor, request, resourceId }: CreateImportInput,
): Promise<Asset> {
  const { newAssets: limits } = ctx.settings;
  const { ownerUserId } = actor;
  const url = parseUrl(request.url, ctx.settings.outboundAllowPrivate.includes('import'));
  const headers = parseHeaders(request.headers, actor);
  const described = await describe(ctx, request, { url, headers, ownerUserId });
  const upload = toNewAsset(described, {
    isService: actor.caller.kind === 'service',
    limits,
    now: ctx.clocks.now(),
  });
  const newAsset = toOpenAsset(ctx, upload, { ownerUserId, resourceId });
  const { id: assetId, upload_expires_at: expiresAt } = newAsset;
  const data = { ...toActorData(actor, newAsset), import_host: url.host };
  return createAsset(ctx, newAsset, {
    data,
    alongside: async (tx) => {
      await insertImport(tx, { assetId, url: url.href, headers, expiresAt });
      await ctx.jobs.sendFor(tx, ownerUserId, { name: 'import-asset', payload: { assetId, attempt: 1 } });
    },
  });
}

function parseUrl(text: string, allowPrivate: boolean): URL {
  const parsed = parseOutboundUrl(text, { allowPrivate });
  if ('refused' in parsed)
    throw badRequest(`url cannot be imported: ${REFUSALS[parsed.refused]}.`, {
      field: 'url',
      reason: URL_REASONS[parsed.refused],
    });
  return parsed.url;
}

const REFUSALS: Readonly<Record<AddressRefusal, string>> = {
  invalid_url: 'it must be an absolute URL of at most 8192 characters',
  scheme: 'its scheme must be http or https',
  credentials: 'it must not contain a user name or password',
  port: 'imports may not use its port',
  private_address: 'its address is not public',
  downgrade: 'it leads from https to http',
};

/** Headers that the download itself sets. */
const DOWNLOAD_HEADERS = ['range', 'if-range', 'if-match', 'if-none-match', 'if-modified-since'];

/** A user's headers are refused: ignoring them would end in a failed import that nothing explains. */
function parseHeaders(headers: OutboundHeaders = {}, { caller }: Actor): OutboundHeaders {
  if (caller.kind !== 'service' && Object.keys(headers).length > 0)
    throw badRequest('headers need the service key. A user can import public URLs and signed URLs.', {
      field: 'headers',
    });
  const isSetByDownload = (name: string) => DOWNLOAD_HEADERS.includes(name.toLowerCase());
  const invalid = findInvalidHeader(headers) ?? Object.keys(headers).find(isSetByDownload);
  if (invalid !== undefined)
    throw badRequest(
      `The header ${JSON.stringify(invalid.slice(0, 100))} cannot be sent: its name or value is not valid, ` +
        'or the download sets it',
      {
        field: `headers.${invalid.slice(0, 100)}`,
      },
    );
  return headers;
}

/** Requests the source only if the caller leaves the name or the type to the response. */
async function describe(
  ctx: UploadsContext,
  { url: _url, headers: _headers, ...fields }: ImportRequest,
  source: ImportedFile,
): Promise<CreateUploadRequest> {
  const { filename, mime_type: mimeType } = fields;
  const found =
    filename === undefined || mimeType === undefined ? await requestSource(ctx, source) : undefined;
  const type = mimeType ?? getMimeType(found, ctx.settings.newAssets);
  return {
    ...fields,
    // The file is at the URL.
    provider_video_id: undefined,
    filename: filename ?? found?.source.filename ?? '',
    mime_type: type,
    content_type: fields.content_type ?? type,
  };
}

type FoundSource = { readonly source: ImportSource; readonly contentType: string | null };

function getMimeType(found: FoundSource | undefined, { mimeTypes }: NewAssetRules): string {
  if (found?.source.mediaType) return found.source.mediaType.mime;
  throw badRequest(
    `The response of url has the type ${JSON.stringify((found?.contentType ?? '').slice(0, 100))}, which ` +
      `is not supported. Supported: ${mimeTypes.join(', ')}. Give mime_type if the file has one of these.`,
    { field: 'mime_type', allowed: mimeTypes },
  );
}

async function requestSource(
  ctx: UploadsContext,
  { url, headers, ownerUserId }: ImportedFile,
): Promise<FoundSource> {
  const response = await ctx.intake.outbound.limitMetadataRequests(ownerUserId, () =>
    fetchMetadata(ctx, url.href, headers),
  );
  const contentType = response.headers.get('content-type');
  const contentDisposition = response.headers.get('content-disposition');
  return {
    contentType,
    source: describeSource({ url: response.url, contentDisposition, contentType }, ctx.intake.mediaTypes),
  };
}

/** GET, because signed URLs of object stores refuse HEAD. */
async function fetchMetadata(
  { intake, settings }: UploadsContext,
  url: string,
  headers: OutboundHeaders,
): Promise<OutboundResponse> {
  try {
    const response = await intake.outbound.fetchMetadata({ url, headers });
    response.body.destroy();
    if (response.status !== 200) throw new OutboundError('http_status', { status: response.status });
    return response;
  } catch (error) {
    throw error instanceof OutboundError ? toRequestError(error, settings.newAssets) : error;
  }
}

function toRequestError(problem: OutboundError, { maxUploadBytes }: NewAssetRules): ServiceError {
  const { code, message } = describeProblem(problem);
  const details = { field: 'url', reason: code };
  return problem.reason === 'too_large'
    ? payloadTooLarge(`The file is larger than the maximum of ${maxUploadBytes} bytes`, {
        field: 'url',
        limit: maxUploadBytes,
      })
    : badRequest(message, problem.status === undefined ? details : { ...details, status: problem.status });
}
