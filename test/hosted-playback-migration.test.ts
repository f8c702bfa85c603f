// Tests that migration 0010 turns stored URLs of hosted videos into manifests that follow the settings.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Connection } from '../service/src/platform/postgres/database.ts';
import { migrate } from '../service/src/platform/postgres/migrate.ts';
import { rowsOf, startTestPostgres, type TestPostgres } from './support/postgres.ts';

const FILE = join(import.meta.dirname, '../service/migrations/0010-hosted-playback.sql');
const UNCONFIGURED = { code: 'playback_unconfigured', message: 'm' };
const REFUSED = { code: 'playback_url_refused', message: 'm' };

let server: TestPostgres;
let database: Connection;
beforeAll(async () => {
  server = await startTestPostgres();
  database = await server.database('assets');
  await migrate(database);
  // A later migration gave the column its present name.
  await rowsOf(database, 'alter table assets rename column ready_at to completed_at');
});
afterAll(() => server.stop());

type Row = {
  readonly provider: string;
  readonly playback: object | null;
  readonly warnings?: readonly object[];
  readonly stream_status?: string;
  readonly attempt?: number;
};

/** The columns of a video of an earlier release after the migration. */
async function migrated({ provider, playback, warnings = [], stream_status = 'ready', attempt = 1 }: Row) {
  const [{ id } = {}] = await rowsOf(
    database,
    `insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility, tags,
       provider, provider_video_id, stream_status, attempt, warnings, created_at, updated_at)
     values (gen_random_uuid(), 'ann', 'video', 'a.mp4', 'video', 'video/mp4', 'private', '{}', $1,
             'v-' || gen_random_uuid(), $2, $3, $4, now(), now()) returning id`,
    [provider, stream_status, attempt, JSON.stringify(warnings)],
  );
  const stored = playback === null ? null : JSON.stringify(playback);
  await rowsOf(
    database,
    "update assets set playback = replace($2, '{id}', provider_video_id)::jsonb where id = $1",
    [id, stored],
  );
  await rowsOf(database, await readFile(FILE, 'utf8'));
  const [row] = await rowsOf(
    database,
    `select replace(playback::text, provider_video_id, '{id}')::jsonb as playback, warnings, playable_at
       from assets where id = $1`,
    [id],
  );
  return row;
}

const urls = (more: object) => ({
  kind: 'urls',
  attempt: 1,
  hls: null,
  dash: null,
  thumbnail: null,
  ...more,
});
const hosted = (more: object = {}) => ({ kind: 'hosted', attempt: 1, videoId: '{id}', ...more });

test('URLs of cdnhost are no longer stored', async () => {
  const stored = urls({ hls: 'https://a.example/{id}/playlist.m3u8' });
  expect(await migrated({ provider: 'cdnhost', playback: stored })).toMatchObject({ playback: hosted() });
});

test('a ready video without URLs is playable, and loses its warning', async () => {
  for (const provider of ['cdnhost', 'edgehost'])
    expect(await migrated({ provider, playback: null, warnings: [UNCONFIGURED] })).toEqual({
      playback: hosted(),
      warnings: [],
      playable_at: expect.any(Date),
    });
});

test('URLs of edgehost stay if they were given, and are replaceable if they may be computed', async () => {
  const computed = { dash: 'https://a.example/{id}/manifest/video.mpd' };
  const given = { hls: 'https://b.example/x.m3u8' };
  expect(await migrated({ provider: 'edgehost', playback: urls({ ...given, ...computed }) })).toMatchObject({
    playback: hosted({ ...given, earlier: computed }),
  });
});

test('a refused URL of edgehost stays refused', async () => {
  const playback = urls({ hls: 'https://b.example/x.m3u8' });
  expect(await migrated({ provider: 'edgehost', playback, warnings: [REFUSED] })).toMatchObject({
    playback: hosted({ hls: 'https://b.example/x.m3u8', dash: null, thumbnail: null }),
    warnings: [REFUSED],
  });
});

test('a video that is encoded again keeps what plays', async () => {
  const stored = urls({ hls: 'https://a.example/{id}/playlist.m3u8' });
  const retried = { provider: 'cdnhost', stream_status: 'processing', attempt: 2 };
  expect(await migrated({ ...retried, playback: stored })).toMatchObject({ playback: hosted() });
  const other = urls({ hls: 'https://a.example/another-video/playlist.m3u8' });
  expect(await migrated({ ...retried, playback: other })).toMatchObject({ playback: other });
  expect(await migrated({ ...retried, playback: null })).toMatchObject({ playback: null });
});

test('other videos are not changed', async () => {
  const own = { kind: 'own', attempt: 1, folder: '1-1' };
  expect(await migrated({ provider: 'onprem', playback: own })).toMatchObject({ playback: own });
  const reported = urls({ hls: 'https://a.example/{id}/manifest/video.m3u8' });
  expect(await migrated({ provider: 'onprem', playback: reported })).toMatchObject({ playback: reported });
});
