// Uploads that were opened and never completed in time.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

/** Oldest first; not those whose bytes are arriving now, nor those whose bytes a provider may have: it is asked first. */
export const expiredUploads = async (db: Queries, now: Date, limit: number): Promise<string[]> =>
  (
    await db.all(sql('expired uploads', { id: 'uuid' })`
    select id from assets
     where stream_status = 'pending_upload' and upload_expires_at < ${now} and deleted_at is null and provider_video_id is null and (upload_writer_until is null or upload_writer_until < now())
     order by upload_expires_at limit ${limit}`)
  ).map(({ id }) => id);
