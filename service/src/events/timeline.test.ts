// Tests with a real database how events of earlier releases appear in the timeline.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openTestDatabase,
  rowsOf,
  startTestPostgres,
  type TestPostgres,
} from '../../../test/support/postgres.ts';
import type { Connection, Database } from '../platform/postgres/database.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { uuidV7 } from '../platform/uuid-v7.ts';
import { listTimeline } from './timeline.ts';

const RENAME = 11;

let server: TestPostgres;
let connection: Connection;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.database('timeline');
  await migrate(connection);
  db = openTestDatabase(connection);
});
afterAll(async () => {
  await db.close();
  await server.stop();
});

test('a check that an earlier release recorded as "sweep" has the source "reconcile"', async () => {
  const assetId = randomUUID();
  for (const [type, source] of [
    ['asset.created', 'caller'],
    ['asset.checked', 'sweep'],
  ])
    await rowsOf(
      connection,
      `insert into events (id, asset_id, owner_user_id, type, data, created_at)
       values ($1, $2, 'ann', $3, $4, now())`,
      [uuidV7(), assetId, type, { source, reason: 'still_ready' }],
    );
  await rowsOf(connection, 'delete from migrations where number = $1', [RENAME]);
  expect(await migrate(connection)).toHaveLength(1);
  const { items } = await listTimeline({ db }, assetId, { limit: 10 });
  expect(items.map(({ source, details }) => ({ source, details }))).toEqual([
    { source: 'caller', details: { reason: 'still_ready' } },
    { source: 'reconcile', details: { reason: 'still_ready' } },
  ]);
  expect(items[1]?.sentence).toBe('The provider confirms that the video is ready.');
});
