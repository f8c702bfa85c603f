// `npm run seed -- --assets 1000000`: fills a database with generated assets, to test lists at scale; and
// the parked reports of `--demo`.
import { parseArgs } from 'node:util';
import { type Connection, connectClient } from '../platform/postgres/connection.ts';

type SeedOptions = { readonly connection: Connection; readonly assets: number };

type SeedArguments = { readonly assets: number; readonly isDemo: boolean; readonly url: string | undefined };

/** `url`: of the service that gets the demo library. */
export function parseSeedArguments(args: readonly string[]): SeedArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      assets: { type: 'string', default: '1000' },
      demo: { type: 'boolean', default: false },
      url: { type: 'string' },
    },
  });
  const assets = Number(values.assets);
  if (!Number.isSafeInteger(assets) || assets < 1)
    throw new Error(`--assets must be a whole number of 1 or more, not "${values.assets}"`);
  return { assets, isDemo: values.demo, url: values.url?.replace(/\/+$/, '') };
}

/** Rows per statement, so that progress is visible. */
const BATCH = 100_000;

/**
 * A thousand owners, two years. The ids are UUIDv7 of `created_at`. Each asset has one of 50 equally
 * frequent tags, and one of 10 000 whose frequency falls, because real tags have a long tail.
 */
export async function seedAssets({ connection, assets }: SeedOptions): Promise<void> {
  const client = await connectClient(connection, {});
  await client.query('set synchronous_commit = off');
  for (let done = 0; done < assets; done += BATCH) {
    await client.query(INSERT, [done, Math.min(done + BATCH, assets) - 1, assets]);
    process.stdout.write(`${Math.min(done + BATCH, assets)} of ${assets}\n`);
  }
  await client.query('vacuum analyze assets');
  await client.end();
}

/** Reports of a hosted provider about videos that no asset is linked to; a second run adds none. */
export async function seedParkedReports(connection: Connection): Promise<void> {
  const client = await connectClient(connection, {});
  for (const [index, video] of PARKED_VIDEOS.entries())
    await client.query(INSERT_PARKED, [video, JSON.stringify({ VideoGuid: video, Status: 3 }), index + 1]);
  await client.end();
}

const PARKED_VIDEOS = [
  '3b0d2f6e-5d41-4c0e-9d3a-6f1c2b7a9e01',
  '8c1e7a54-0b6f-4f7d-a2c9-1d5e3f8b4c02',
  'e5f9c3d2-7a18-49b6-8e40-9b2d6c1f7a03',
] as const;

const INSERT_PARKED = `
  insert into deliveries (id, provider, provider_video_id, body, headers, processed, reason, received_at)
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
            || '70008' || substr(md5($1), 1, 15))::uuid,
         'cdnhost', $1, convert_to($2, 'UTF8'), '{"content-type": "application/json"}', false, 'parked', at
    from (select now() - make_interval(mins => $3) as at) as moment
   where not exists (select from deliveries where provider = 'cdnhost' and provider_video_id = $1)`;

const INSERT = `
  insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility, title, tags,
                      metadata, provider, stream_status, progress, created_at, updated_at)
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0')
            || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || substr(md5(n::text), 1, 15))::uuid,
         'owner-' || n % 1000,
         case when n % 3 = 0 then 'image' else 'video' end,
         'file-' || n || '.' || case when n % 3 = 0 then 'png' else 'mp4' end,
         case when n % 3 = 0 then 'image' else 'video' end,
         case when n % 3 = 0 then 'image/png' else 'video/mp4' end,
         'private',
         'Made-up ' || substr(md5((n / 7)::text), 1, 8),
         array['tag-' || n % 50, 'topic-' || floor(power(10000, (n * 7919 % 100003) / 100003.0))],
         case when n % 4 = 0 then jsonb_build_object('order_id', n / 8) end,
         case when n % 3 = 0 then null when n % 9 = 1 then 'cdnhost' else 'onprem' end,
         (array['ready', 'ready', 'ready', 'processing',
                'failed', 'pending_upload', 'ready', 'ready'])[1 + n % 8],
         100, at, at
    from (select n,
                 date_trunc('milliseconds',
                            timestamptz '2025-01-01' + make_interval(secs => n * 63072000.0 / $3)) as at
            from generate_series($1::bigint, $2::bigint) as n) as rows`;
