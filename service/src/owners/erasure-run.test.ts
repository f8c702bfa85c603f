// Tests with a real database that an erasure waits for each asset that was not closed.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openTestDatabase,
  rowsOf,
  startTestPostgres,
  type TestPostgres,
} from '../../../test/support/postgres/postgres.ts';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import type { Connection } from '../platform/postgres/connection.ts';
import type { Database } from '../platform/postgres/database.ts';
import { contextOf } from '../platform/values/context.fixture.ts';
import type { OwnersContext } from './context.ts';
import { runErasure } from './erasure-run.ts';

let server: TestPostgres;
let connection: Connection;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
  connection = await server.migrated();
  db = openTestDatabase(connection);
});
afterAll(async () => {
  await db.close();
  await server.stop();
});

test('the erasure waits for a legal hold that is set again while assets are closed', async () => {
  const [asset, erasureId] = [createVideo({ owner_user_id: 'ann' }), randomUUID()];
  await rowsOf(
    connection,
    `insert into assets
       (id, owner_user_id, kind, filename, content_type, mime_type, visibility, created_at, updated_at)
     values ($1, 'ann', 'video', 'a.mp4', 'video/mp4', 'video/mp4', 'private', now(), now())`,
    [asset.id],
  );
  await rowsOf(
    connection,
    `insert into owner_erasures (id, owner_user_id, owner_sha256, phase) values ($1, 'ann', '', 'removing')`,
    [erasureId],
  );
  const jobs: unknown[] = [];
  const ctx = contextOf<OwnersContext>({
    db,
    jobs: {
      cancelWaitingJobs: async () => {},
      listOpenSubjects: async () => [],
      sendFor: async (_tx, _owner, job) => void jobs.push(job),
    },
    providers: {},
    lifecycle: { findAssetById: async () => asset },
    library: {
      closeForErasure: async ({ id }) =>
        void (await rowsOf(connection, 'update assets set legal_hold = true where id = $1', [id])),
    },
  });
  await runErasure(ctx, erasureId, new AbortController().signal);
  expect(await rowsOf(connection, 'select phase, waiting from owner_erasures')).toEqual([
    { phase: 'removing', waiting: [{ reason: 'legal_hold', asset_count: 1 }] },
  ]);
  expect(jobs).toMatchObject([{ name: 'erase-owner', payload: { erasureId } }]);
});
