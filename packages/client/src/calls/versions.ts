// Calls on the versions of an asset's file.
import type { Asset } from '../api/assets.ts';
import type { AssetVersion, AssetVersionPage, OpenUpload, ReplaceFileRequest } from '../api/uploads.ts';
import { assetPath, ownerOf } from '../media.ts';
import { createPagedList, type PagedList } from '../pages.ts';
import type { CallOptions, Transport } from '../transport.ts';

export type VersionCalls = {
  /**
   * Opens the upload of a file that takes the place of the asset's; `media.upload` with `replaces` does this
   * and all that follows. Errors: 400 `other_kind`; 409 `replacement_in_progress`, `not_stored_here`,
   * `wrong_status`, `legal_hold`.
   */
  replace(
    id: string,
    request: Omit<ReplaceFileRequest, 'owner_user_id'>,
    options?: CallOptions,
  ): Promise<OpenUpload>;
  /** The replacement that is not ready yet, the current file, and the one before it. */
  list(id: string, options?: CallOptions): PagedList<AssetVersion, AssetVersionPage>;
  /** Brings the previous file back, until its `restorable_until`. Errors: 409 `no_previous_version`. */
  rollBack(id: string, options?: CallOptions): Promise<Asset>;
};

export function createVersionCalls(transport: Transport): VersionCalls {
  const post = <T>(path: string, body: object, options?: CallOptions): Promise<T> =>
    transport.request({ method: 'POST', path, body: { ...body, ...ownerOf(transport, options) }, options });
  return {
    replace: (id, request, options) => post(assetPath(id, '/replace'), request, options),
    list: (id, options) =>
      createPagedList(() => transport.request({ method: 'GET', path: assetPath(id, '/versions'), options })),
    rollBack: (id, options) => post(assetPath(id, '/rollback'), {}, options),
  };
}
