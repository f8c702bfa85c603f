// Finds rows that contradict each other about one asset.
import { rows } from '../service/traces.ts';

const countEvents = (type: string) =>
  `(select count(*)::int from events e where e.asset_id = a.id and e.type = '${type}')`;
const countJobs = (job: string) =>
  `(select count(*)::int from pgboss.job j where j.name = '${job}' and j.data->>'assetId' = a.id::text)`;

/**
 * Each change of an asset has its event, and each that starts work its job, once. The removal of objects
 * repeats itself for presigned URLs.
 */
export const halves = (dataDir: string): Promise<Record<string, unknown>[]> =>
  rows(
    dataDir,
    `
  select * from (
    select a.id, a.owner_user_id, a.stream_status, a.refused, a.uploaded_at, a.deleted_at, a.purge_at,
           ${countEvents('asset.created')} as created, ${countEvents('asset.uploaded')} as uploaded,
           ${countEvents('asset.ready')} as ready, ${countEvents('asset.deleted')} as deleted,
           ${countJobs('purge-asset')} as purges,
           ${countEvents('asset.processing')} as begun,
           ${countJobs('process-image')} + ${countJobs('encode-asset')} as jobs
      from assets a) as asset
   where created <> 1 or (uploaded <> (uploaded_at is not null)::int and not refused)
       or ready <> (stream_status = 'ready')::int
      or (deleted_at is not null and (deleted = 0 or purges < (purge_at is null)::int))
      or (stream_status in ('processing', 'ready') and jobs <> begun
           and not exists (select 1 from deliveries d where d.asset_id = asset.id))`,
  );
