// Tests with a real database that reports write no index of assets, and which assets are unfinished.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf, startTestPostgres, type TestPostgres } from '../../../test/support/postgres/postgres.ts';
import type { Connection } from '../platform/postgres/connection.ts';
import { createVideo } from './asset.fixture.ts';
import { toStreamState } from './decisions/stream-state.ts';

const ID = '01900000-0000-7000-8000-000000000001';
const DUE = new Date('2026-01-01T10:02:00.000Z');
const EXPIRES = new Date('2026-01-01T11:00:00.000Z');

let server: TestPostgres;
let connection: Connection;

beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.migrated();
});
afterAll(() => server.stop());

const INSERT = `
  insert into assets (id, owner_user_id, kind, filename, content_type, mime_type, visibility, provider,
                      upload_expires_at, created_at, updated_at)
  values ($1, 'ann', 'video', 'clip.mp4', 'video', 'video/mp4', 'private', 'onprem', $2, now(), now())`;
const unfinished = () => rowsOf(connection, 'select * from unfinished_assets where asset_id = $1', [ID]);
const set = (assignment: string, values: readonly unknown[] = []) =>
  rowsOf(connection, `update assets set ${assignment} where id = $1`, [ID, ...values]);

test('no index of assets has a column that reports and checks change', async () => {
  const indexed = await rowsOf(
    connection,
    `select distinct attname
       from pg_index join pg_attribute on attrelid = indrelid
       left join pg_depend on objid = indexrelid and refobjid = indrelid and refobjsubid = attnum
      where indrelid = 'assets'::regclass and (attnum = any(indkey::int2[]) or objid is not null)`,
  );
  const columns = indexed.map(({ attname }) => String(attname));
  expect(columns).toEqual(expect.arrayContaining(['id', 'deleted_at', 'checksum_sha256', 'title']));
  // The bytes are stored before the first report, and only a refusal takes them away.
  const changed = Object.keys(toStreamState(createVideo({}))).filter((name) => name !== 'uploaded_at');
  expect(columns.filter((name) => [...changed, 'revision', 'updated_at'].includes(name))).toEqual([]);
});

test('an asset has a row while it is not ready or waits for a check, and none in the trash', async () => {
  await rowsOf(connection, INSERT, [ID, EXPIRES]);
  const row = {
    asset_id: ID,
    owner_user_id: 'ann',
    stream_status: 'pending_upload',
    provider: 'onprem',
    reconcile_at: null,
    upload_expires_at: EXPIRES,
    processing_since: null,
  };
  expect(await unfinished()).toEqual([row]);
  await set(`stream_status = 'processing', reconcile_at = $2`, [DUE]);
  const processing = { ...row, stream_status: 'processing', reconcile_at: DUE, upload_expires_at: null };
  expect(await unfinished()).toEqual([{ ...processing, processing_since: expect.any(Date) }]);
  await set(`stream_status = 'ready'`);
  expect(await unfinished()).toEqual([{ ...processing, stream_status: 'ready' }]);
  await set('reconcile_at = null');
  expect(await unfinished()).toEqual([]);
  await set(`stream_status = 'failed', provider = 'cdnhost'`);
  const failed = { ...processing, stream_status: 'failed', reconcile_at: null, provider: 'cdnhost' };
  expect(await unfinished()).toEqual([failed]);
  await set('deleted_at = now(), purge_at = now()');
  expect(await unfinished()).toEqual([]);
  await set('deleted_at = null, purge_at = null');
  expect(await unfinished()).toEqual([failed]);
  await rowsOf(connection, 'delete from assets where id = $1', [ID]);
  expect(await unfinished()).toEqual([]);
});
