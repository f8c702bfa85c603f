// Deleting assets, and restoring them from the trash.
import { jsonOperation } from '../operation.ts';
import { Asset, EXAMPLE_ASSET } from '../schemas/assets/asset.ts';
import { OwnerOnly } from '../schemas/common.ts';
import { DeletedAsset, DeleteAssetQuery } from '../schemas/library.ts';
import { ASSET_ERRORS, EXTERNAL_ID_TAKEN, HELD, STALE } from './media.ts';

export const deleteAsset = jsonOperation({
  id: 'deleteAsset',
  method: 'DELETE',
  path: '/api/v1/media/{id}',
  tag: 'Assets',
  auth: 'caller',
  summary: 'Delete an asset',
  description:
    'The asset stops playing at once; a job removes its bytes after `PURGE_GRACE_DAYS`, or at once with ' +
    '`erase=true`. With `trash=true` the asset moves to the trash and can be restored; an asset in the ' +
    'trash is not changed. The same happens, without the trash, when the `expires_at` of the asset passes. ' +
    'Service callers send `owner_user_id` in the body or in the query.',
  requestHeaders: ['If-Match'],
  query: DeleteAssetQuery,
  requestExample: { query: { trash: true } },
  body: OwnerOnly,
  message: 'Asset deleted',
  data: DeletedAsset,
  example: { id: EXAMPLE_ASSET.id, deleted: true },
  errors: [...ASSET_ERRORS, { code: 'FORBIDDEN', when: '`erase=true` needs the service key.' }, HELD, STALE],
});

export const restoreAsset = jsonOperation({
  id: 'restoreAsset',
  method: 'POST',
  path: '/api/v1/media/{id}/restore',
  tag: 'Assets',
  auth: 'caller',
  summary: 'Restore an asset',
  description: 'Restores an asset from the trash.',
  requestHeaders: ['Idempotency-Key'],
  body: OwnerOnly,
  message: 'Asset restored',
  data: Asset,
  example: EXAMPLE_ASSET,
  errors: [
    ...ASSET_ERRORS,
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'A quota of the owner is exceeded.' },
    { code: 'CONFLICT', when: 'Another asset is now linked to its provider video.' },
    EXTERNAL_ID_TAKEN,
    HELD,
  ],
});
