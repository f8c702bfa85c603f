// Calls on assets: one function for each operation below `/api/v1/media`.
import type { Asset, AssetPage, DeletedAsset } from './api/assets.ts';
import type { BatchRequest, BatchResult } from './api/batches.ts';
import type { ExistingAssetRule } from './api/enums.ts';
import type {
  ListAssetsQuery,
  TimelineEntry,
  TimelinePage,
  TimelineQuery,
  UpdateAssetRequest,
} from './api/library.ts';
import type { DownloadUrl, Playback } from './api/playback.ts';
import type { ClipRequest, ImportRequest } from './api/imports.ts';
import type { CreateUploadRequest, OpenUpload } from './api/uploads.ts';
import { createPagedList, type PagedList } from './pages.ts';
import { type CallOptions, pathBelow, type Transport } from './transport.ts';

export type CreateUploadOptions = CallOptions & {
  /** With `checksum_sha256`: return the owner's asset that has the same bytes, if there is one. */
  deduplicate?: boolean | undefined;
  /** `asset`: the result contains the asset. */
  expand?: 'asset' | undefined;
} & Pick<ImportOptions, 'ifExists'>;

export type ImportOptions = CallOptions & {
  /** If the owner has an asset with this `external_id`: `fail` (default), or `return` it, unchanged. */
  ifExists?: ExistingAssetRule | undefined;
};

export type GetOptions = CallOptions & {
  /** `collections`: the result contains the ids of the collections of the asset. */
  expand?: 'collections' | undefined;
};

type RetryOptions = CallOptions & Pick<CreateUploadOptions, 'expand'>;

export type UpdateOptions = Omit<CallOptions, 'idempotencyKey'> & {
  /**
   * `asset.version`, or the ETag of a response. After a change it is 412 PRECONDITION_FAILED. Such a call is
   * not repeated after a lost response or a 5xx, because it may have taken effect.
   */
  ifMatch?: number | string | undefined;
};

export type DeleteOptions = UpdateOptions & {
  /** True: the asset moves to the trash and can be restored. Default: it is deleted for good. */
  trash?: boolean | undefined;
  /** True: the stored bytes are removed at once, without PURGE_GRACE_DAYS. Needs the service key. */
  erase?: boolean | undefined;
};

export type PlaybackOptions = CallOptions & {
  /** `cookie`: URLs without a token, and a cookie for pages on the origin of the service. */
  access?: 'token' | 'cookie' | undefined;
};

/** The owner is an option of every call. */
type WithoutOwner<T> = Omit<T, 'owner_user_id'>;
export type AssetFilters = WithoutOwner<ListAssetsQuery>;

export type AssetCalls = {
  /**
   * Creates an asset and returns where to send its bytes; `media.upload` does this and all that follows.
   * Errors: 400 BAD_REQUEST with the `field`, or `quota_exceeded`; 409 `external_id_taken`;
   * 413 PAYLOAD_TOO_LARGE.
   */
  createUpload(
    request: WithoutOwner<CreateUploadRequest>,
    options?: CreateUploadOptions,
  ): Promise<OpenUpload>;
  /**
   * Validates the uploaded bytes and starts processing. Can be repeated.
   * Errors: 400 `not_uploaded`, `size_mismatch`, `checksum_mismatch`, `type_mismatch`, `not_media`, ….
   */
  complete(id: string, options?: CallOptions): Promise<Asset>;
  /** Creates an asset whose bytes the service downloads from a URL, then completes. */
  import(request: WithoutOwner<ImportRequest>, options?: ImportOptions): Promise<Asset>;
  /**
   * Creates a video from a part of another one, which the service cuts from its original.
   * Errors: 400 with the `field`, or `quota_exceeded`; 409 `pending_upload`, `failed`, `not_stored_here`, ….
   */
  clip(id: string, request: WithoutOwner<ClipRequest>, options?: CallOptions): Promise<Asset>;
  /** Errors: 404 NOT_FOUND, 403 FORBIDDEN. */
  get(id: string, options?: GetOptions): Promise<Asset>;
  /**
   * Assets of the owner, newest first.
   *
   * @example for await (const asset of mediary.media.list({ kind: 'video' })) console.log(asset.filename);
   */
  list(filters?: AssetFilters, options?: CallOptions): PagedList<Asset, AssetPage>;
  /** Omitted members keep their values; null clears them. */
  update(id: string, changes: WithoutOwner<UpdateAssetRequest>, options?: UpdateOptions): Promise<Asset>;
  /**
   * Changes up to 100 assets, each on its own: `items[].error` says why one could not be changed.
   *
   * @example await mediary.media.changeMany({ ids, action: 'update', add_tags: ['launch'] });
   */
  changeMany(request: WithoutOwner<BatchRequest>, options?: CallOptions): Promise<BatchResult>;
  /** Deletes the asset, or moves it to the trash (`trash: true`). It stops playing at once. */
  delete(id: string, options?: DeleteOptions): Promise<DeletedAsset>;
  /** Brings an asset back from the trash. */
  restore(id: string, options?: CallOptions): Promise<Asset>;
  /** Nothing deletes the asset until the release. Needs a service key with the scope `legal_hold`. */
  setLegalHold(id: string, options?: CallOptions): Promise<Asset>;
  /** Releases the hold; an asset that has expired meanwhile is deleted within about a minute. */
  releaseLegalHold(id: string, options?: CallOptions): Promise<Asset>;
  /** Starts another attempt of a failed asset. `upload` is set if the bytes must be sent again. */
  retry(id: string, options?: RetryOptions): Promise<OpenUpload>;
  /** URLs for players; null for formats that are not there yet. Do not store them: they expire. */
  playback(id: string, options?: PlaybackOptions): Promise<Playback>;
  /** Ends the playback and download URLs and the cookies that were handed out. */
  revokePlayback(id: string, options?: CallOptions): Promise<Asset>;
  /** A signed URL of the original. `url` is null while a provider prepares the file. */
  downloadUrl(id: string, options?: CallOptions): Promise<DownloadUrl>;
  /** What happened to the asset, oldest first. */
  timeline(id: string, query?: TimelineQuery, options?: CallOptions): PagedList<TimelineEntry, TimelinePage>;
};

export const assetPath = pathBelow('/media', 'asset');

/** The owner of a call, else that of the client. */
export function ownerOf(
  transport: Pick<Transport, 'ownerUserId'>,
  options: CallOptions | undefined,
): { owner_user_id?: string } {
  const owner = options?.ownerUserId ?? transport.ownerUserId;
  return owner === undefined ? {} : { owner_user_id: String(owner) };
}

export function createAssetCalls(transport: Transport): AssetCalls {
  const post = <T>(path: string, body: object, options?: CallOptions): Promise<T> =>
    transport.request({ method: 'POST', path, body: { ...body, ...ownerOf(transport, options) }, options });
  const read = <T>(id: string, rest: string, options?: CallOptions): Promise<T> =>
    transport.request({ method: 'GET', path: assetPath(id, rest), options });
  return {
    ...createCreationCalls(transport),
    complete: (id, options) => post(assetPath(id, '/complete'), {}, options),
    clip: (id, request, options) => post(assetPath(id, '/clip'), request, options),
    get: (id, options) =>
      transport.request({
        method: 'GET',
        path: assetPath(id),
        query: { expand: options?.expand },
        options,
      }),
    list: (filters = {}, options) =>
      createPagedList((cursor) => {
        const query = { ...filters, ...ownerOf(transport, options), cursor };
        return transport.request({ method: 'GET', path: '/media', query, options });
      }, filters.cursor),
    changeMany: (request, options) => post('/media/batch', request, options),
    restore: (id, options) => post(assetPath(id, '/restore'), {}, options),
    retry: (id, options) =>
      transport.request({
        method: 'POST',
        path: assetPath(id, '/retry'),
        query: { expand: options?.expand },
        body: ownerOf(transport, options),
        options,
      }),
    playback: (id, options) =>
      transport.request({
        method: 'GET',
        path: assetPath(id, '/playback'),
        query: { access: options?.access },
        options,
      }),
    revokePlayback: (id, options) => post(assetPath(id, '/revoke-playback'), {}, options),
    downloadUrl: (id, options) => read(id, '/download-url', options),
    timeline: (id, filters = {}, options) =>
      createPagedList((cursor) => {
        const query = { ...filters, cursor };
        return transport.request({ method: 'GET', path: assetPath(id, '/timeline'), query, options });
      }, filters.cursor),
    ...createEditCalls(transport),
  };
}

const createCreationCalls = (transport: Transport): Pick<AssetCalls, 'createUpload' | 'import'> => ({
  createUpload: (request, options) =>
    transport.request({
      method: 'POST',
      path: '/media/upload-url',
      query: {
        deduplicate: options?.deduplicate,
        if_exists: options?.ifExists,
        expand: options?.expand,
      },
      body: { ...request, ...ownerOf(transport, options) },
      options,
    }),
  import: (request, options) =>
    transport.request({
      method: 'POST',
      path: '/media/import',
      query: { if_exists: options?.ifExists },
      body: { ...request, ...ownerOf(transport, options) },
      options,
    }),
});

/** A version, or the ETag of a response as it came. */
const toIfMatch = (ifMatch: number | string): string =>
  typeof ifMatch === 'number' ? `"${ifMatch}"` : ifMatch;

/** A repetition would find the version that the first request made, and fail. */
const versioned = (options: UpdateOptions | undefined) =>
  options?.ifMatch === undefined
    ? { options }
    : { options, isRepeatable: false, headers: { 'if-match': toIfMatch(options.ifMatch) } };

type EditCalls = Pick<AssetCalls, 'update' | 'delete' | 'setLegalHold' | 'releaseLegalHold'>;

const createEditCalls = (transport: Transport): EditCalls => ({
  setLegalHold: (id, options) =>
    transport.request({
      method: 'PUT',
      path: assetPath(id, '/legal-hold'),
      body: ownerOf(transport, options),
      options,
    }),
  releaseLegalHold: (id, options) =>
    transport.request({
      method: 'DELETE',
      path: assetPath(id, '/legal-hold'),
      query: ownerOf(transport, options),
      options,
    }),
  update: (id, changes, options) =>
    transport.request({
      method: 'PATCH',
      path: assetPath(id),
      body: { ...changes, ...ownerOf(transport, options) },
      ...versioned(options),
    }),
  delete: (id, options) =>
    transport.request({
      method: 'DELETE',
      path: assetPath(id),
      query: { trash: options?.trash, erase: options?.erase, ...ownerOf(transport, options) },
      dataIfGone: { id, deleted: true } satisfies DeletedAsset,
      ...versioned(options),
    }),
});
