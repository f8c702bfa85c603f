// Which assets a provider's videos were made for.
import type { Queries } from '../platform/postgres/database.ts';
import { sql } from '../platform/postgres/sql.ts';

const OWNER = { id: 'uuid', provider_video_id: 'text?', is_gone: 'bool' } as const;

export const findAssetsOfVideos = (db: Queries, ids: readonly string[]) =>
  db.all(sql('assets of videos', OWNER)`
    select id, provider_video_id, deleted_at is not null and purge_at is null as is_gone from assets where id = any(${ids}::uuid[])`);
