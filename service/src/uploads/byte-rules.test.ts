// Tests, with a real database, that each rule and its statement agree on every asset (contract B4).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres/postgres.ts';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { type Database, openDatabase } from '../platform/postgres/database.ts';
import { fragment, sql } from '../platform/postgres/sql.ts';
import { AWAITS_SERVICE, IS_CLOSED, TAKES_BYTES } from './byte-conditions.sql.ts';
import { awaitsService, isClosed, takesBytes } from './byte-rules.ts';

let server: TestPostgres;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
  db = openDatabase({ connection: await server.database(), onIdleError: () => {} });
});
afterAll(async () => {
  await db.close();
  await server.stop();
});

const TIMES = [null, NOW];
const ASSETS = (['pending_upload', 'processing', 'ready', 'failed'] as const).flatMap((stream_status) =>
  TIMES.flatMap((uploaded_at) =>
    TIMES.flatMap((deleted_at) =>
      TIMES.map((purge_at) => createVideo({ stream_status, uploaded_at, deleted_at, purge_at })),
    ),
  ),
);
const COLUMNS = fragment`stream_status text, uploaded_at timestamptz, deleted_at timestamptz,
  purge_at timestamptz`;
const ANSWERS = { takes_bytes: 'bool', awaits_service: 'bool', is_closed: 'bool' } as const;

const askDatabase = (asset: Asset) =>
  db.one(sql('test: byte rules', ANSWERS)`
    select ${TAKES_BYTES} as takes_bytes, ${AWAITS_SERVICE} as awaits_service, ${IS_CLOSED} as is_closed
      from json_to_record(${JSON.stringify(asset)}::json) as assets (${COLUMNS})`);

test.each(ASSETS)('$stream_status, $uploaded_at, $deleted_at, $purge_at', async (asset) => {
  const answer = await askDatabase(asset);
  expect(answer).toEqual({
    takes_bytes: takesBytes(asset, asset.attempt),
    awaits_service: awaitsService(asset, asset.attempt),
    is_closed: isClosed(asset, asset.attempt),
  });
});

test('no rule holds for an upload of another attempt, which is closed', () => {
  const asset = createVideo({ attempt: 2 });
  expect([takesBytes(asset, 1), awaitsService(asset, 1), isClosed(asset, 1)]).toEqual([false, false, true]);
});
