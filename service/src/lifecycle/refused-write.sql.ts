// What a caller is told where the database refuses to store an asset.
import { conflict } from '../platform/http/errors.ts';
import { findRaisedDetail, findViolatedConstraint } from '../platform/postgres/database-errors.ts';

/** Raised by a trigger of the migration. */
const OWNER_IS_ERASED = 'MQ003';

/** Throws CONFLICT where the database refuses an asset, and any other error unchanged. */
export function throwRefusal(error: unknown): never {
  const constraint = findViolatedConstraint(error);
  if (constraint?.startsWith('assets_provider_video'))
    throw conflict('Another asset is linked to this video', { field: 'provider_video_id' });
  if (constraint === 'assets_external_id')
    throw conflict('Another asset of the owner has this external_id', {
      field: 'external_id',
      reason: 'external_id_taken',
    });
  if (constraint === 'assets_replacement')
    throw conflict('The asset has a replacement already', { reason: 'replacement_in_progress' });
  if (findRaisedDetail(error, OWNER_IS_ERASED) !== undefined)
    throw conflict('Everything of this owner is being erased. Upload when the erasure is completed.', {
      field: 'owner_user_id',
      reason: 'owner_is_being_erased',
    });
  throw error;
}
