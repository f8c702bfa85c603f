// The rules of byte-rules.ts as conditions of statements that name the table `assets`. A statement compares
// the attempt in its own terms.
import { fragment } from '../platform/postgres/sql.ts';

/** See `awaitsService`. */
export const AWAITS_SERVICE = fragment`assets.stream_status = 'pending_upload' and assets.deleted_at is null`;

/** See `takesBytes`. */
export const TAKES_BYTES = fragment`assets.stream_status = 'pending_upload' and assets.deleted_at is null
  and assets.uploaded_at is null`;

/** See `isClosed`: of an upload that belongs to the attempt. */
export const IS_CLOSED = fragment`(assets.stream_status <> 'pending_upload' or assets.uploaded_at is not null
  or assets.deleted_at is not null and assets.purge_at is null)`;
