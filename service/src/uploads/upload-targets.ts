// Where a client can send the bytes of an asset: to the service, or straight to an S3 store (contract B4).
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import type { Asset } from '../assets/asset.ts';
import { issueTicket } from '../auth/tickets/asset-ticket.ts';
import { uploadKey } from '../storage/object-key.ts';
import type { PresignedRequest } from '../storage/object-store.ts';
import { presignedUploadId } from '../storage/upload-id.ts';
import type { UploadsContext } from './context.ts';
import { partBytesFor } from './multipart/multipart-plan.ts';

/** `target` is null when no bytes are expected; `alternatives` accept the same bytes by other protocols. */
export type OpenedUpload = {
  readonly asset: Asset;
  readonly target: UploadTarget | null;
  readonly alternatives?: readonly UploadTarget[];
  /** The asset existed before the request, with the announced bytes. */
  readonly isExisting?: boolean;
};

type Targets = { readonly target: UploadTarget; readonly alternatives: readonly UploadTarget[] };

/** The members that targets of one asset have in common. */
type Shared = Pick<UploadTarget, 'expires_at' | 'max_bytes'>;
type Context = {
  readonly asset: Asset;
  readonly expires: Date;
  /** Absolute, without the ticket. */
  readonly url: string;
  readonly query: string;
  readonly shared: Shared;
};

/** The preferred target, and others that accept the same bytes. */
export async function toUploadTargets(ctx: UploadsContext, asset: Asset, expires: Date): Promise<Targets> {
  const context = toContext(ctx, asset, expires);
  const [first, ...others] = toServiceTargets(ctx, context);
  const direct = await toDirectTarget(ctx, context);
  return direct
    ? { target: direct, alternatives: [first, ...others] }
    : { target: first, alternatives: others };
}

function toContext(ctx: UploadsContext, asset: Asset, expires: Date): Context {
  const ticket = issueTicket(ctx.settings.urlSecrets, 'upload', {
    assetId: asset.id,
    expires: Math.floor(expires.getTime() / 1000),
    attempt: asset.attempt,
  });
  return {
    asset,
    expires,
    url: `${ctx.settings.publicBaseUrl()}/api/v1/uploads/${asset.id}`,
    query: `ticket=${ticket}`,
    shared: {
      expires_at: expires.toISOString(),
      max_bytes: asset.announced_size_bytes ?? ctx.settings.maxUploadBytes,
    },
  };
}

/** One PUT, or a resumable upload: the same ticket is valid for both. */
function toServiceTargets(
  { store, settings }: UploadsContext,
  { asset, url, query, shared }: Context,
): [UploadTarget, ...UploadTarget[]] {
  const put: UploadTarget = {
    protocol: 'put',
    method: 'PUT',
    url: `${url}?${query}`,
    headers: { 'Content-Type': asset.mime_type },
    ...shared,
  };
  if (!store.partial) return [put];
  const tus: UploadTarget = {
    protocol: 'tus',
    method: 'POST',
    url: `${url}/tus?${query}`,
    // Clients of the protocol add `Tus-Resumable` themselves; a second one would be refused.
    headers: {},
    fields: {},
    ...shared,
  };
  return (asset.announced_size_bytes ?? 0) > settings.resumableUploadBytes ? [tus, put] : [put, tus];
}

async function toDirectTarget(
  { store: { direct }, settings, clocks }: UploadsContext,
  { asset, expires, url, query, shared }: Context,
): Promise<UploadTarget | undefined> {
  if (!direct) return undefined;
  const { announced_size_bytes: sizeBytes } = asset;
  if (sizeBytes === null || sizeBytes > settings.multipartUploadBytes)
    return {
      protocol: 's3-multipart',
      method: 'POST',
      url: `${url}/s3-multipart?${query}`,
      s3_url: `${url}/s3?${query}`,
      headers: {},
      part_size_bytes: partBytesFor(shared.max_bytes),
      ...shared,
    };
  const presigned = await direct.presignPut({
    key: uploadKey(asset.id, presignedUploadId(asset)),
    contentType: asset.mime_type,
    contentLength: sizeBytes,
    sha256: asset.announced_sha256 ?? undefined,
    expiresInSeconds: Math.max(1, Math.floor((expires.getTime() - clocks.now().getTime()) / 1000)),
  });
  return {
    protocol: 'put',
    method: 'PUT',
    url: presigned.url,
    headers: toClientHeaders(presigned),
    expires_at: presigned.expiresAt.toISOString(),
    max_bytes: sizeBytes,
  };
}

/** The signed headers that a client sets. HTTP clients send Content-Length, which web pages may not set. */
export const toClientHeaders = ({ headers }: PresignedRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name !== 'content-length')
      .map(([name, value]) => [name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase()), value]),
  );
