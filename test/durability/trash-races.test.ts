// Callers restore assets while the trash is emptied: every acknowledged restore keeps the asset and its
// bytes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IMAGE, openUpload, putBytes } from '../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../support/service.ts';
import { openJobs } from '../support/service/traces.ts';

const ROUNDS = 10;
const ASSETS = 50;
const headers = asUser('ann');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ TRASH_DAYS: '0', LOG_LEVEL: 'error' });
});
afterAll(() => service?.stop());

const bytesOf = (id: string) => Buffer.from(`bytes of ${id}`);

async function storeAsset(): Promise<string> {
  const started = await openUpload(service, 'ann', IMAGE);
  expect((await putBytes(started, bytesOf(started.asset_id))).status).toBe(200);
  return started.asset_id;
}

const emptyTrash = async () => {
  const { db, jobs } = service.adapters;
  await db.transaction((tx) => jobs.send(tx, 'empty-trash', {}));
};

/**
 * Restores the assets one after another while the job runs again and again; returns those that were
 * acknowledged.
 */
async function race(ids: readonly string[]): Promise<string[]> {
  const restored: string[] = [];
  await emptyTrash();
  for (const [index, id] of ids.entries()) {
    if (index % 5 === 0) await emptyTrash();
    const { status } = await call(service, `POST /media/${id}/restore`, { headers });
    expect([200, 404]).toContain(status);
    if (status === 200) restored.push(id);
  }
  return restored;
}

async function download(id: string): Promise<Buffer> {
  const { status, body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, { headers });
  expect(status, `the restored asset ${id}`).toBe(200);
  return Buffer.from(await (await fetch(body.data.url)).arrayBuffer());
}

test('a restore that races with the purge of the trash keeps its asset, 500 times', async () => {
  const restored: string[] = [];
  let purged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const ids = await Promise.all(Array.from({ length: ASSETS }, storeAsset));
    await Promise.all(ids.map((id) => call(service, `DELETE /media/${id}?trash=true`, { headers })));
    // Two callers side by side, so that restores and the job's transactions overlap.
    const halves = await Promise.all([race(ids.slice(0, ASSETS / 2)), race(ids.slice(ASSETS / 2))]);
    restored.push(...halves.flat());
    purged += ASSETS - halves.flat().length;
  }
  await eventually(
    () => openJobs(service.dataDir),
    (jobs) => jobs.length === 0,
  );
  for (const id of restored) expect((await download(id)).equals(bytesOf(id)), id).toBe(true);
  // Both sides won some of the races, or nothing was raced.
  expect(restored.length).toBeGreaterThan(20);
  expect(purged).toBeGreaterThan(20);
});
