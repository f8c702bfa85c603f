// Thirty kills of the service and of its database under write load: acknowledged writes survive, others are
// complete or absent, and clients that follow the events miss none.
import { readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { halves } from '../support/store/partial-writes.ts';
import { type EventLedger, openEventLedger } from '../support/service/event-ledger.ts';
import { type Entry, type Ledger, openLedger } from '../support/store/ledger.ts';
import { asService, call, eventually } from '../support/service.ts';
import { newDataDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';
import { isStoreRemote, objectsIn } from '../support/store/test-store.ts';
import { filesNaming, openJobs, rows } from '../support/service/traces.ts';
import { LIBRARY } from '../support/providers/webhooks.ts';
import { freePort } from '../support/http/free-port.ts';
import { keysOf, REMOVE_ORPHANS, runStorageCheck } from '../support/service/storage-check.ts';

type Victim = 'service' | 'database';
/** In turn, five times over: twenty kills of the one, ten of the other, in some both at once. */
const ROUND: readonly (readonly Victim[])[] = [
  ['service'],
  ['database'],
  ['service'],
  ['database', 'service'],
  ['service'],
];
/** One round is enough to see whether the other store differs. */
const ROUNDS = isStoreRemote ? 1 : 5;
const KILLS = Array.from({ length: ROUNDS }, () => ROUND).flat();
const WRITES_BETWEEN = 42;
const CLIENTS = 8;

let dataDir: string;
let service: ServiceProcess;
let ledger: Ledger;
let events: EventLedger;
let written = 0;

beforeAll(async () => {
  dataDir = await newDataDir();
  // The same port after each start: that is what clients of a real service see.
  const environment = {
    DATA_DIR: dataDir,
    PORT: String(await freePort()),
    LOG_LEVEL: 'error',
    CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY),
    OUTBOUND_ALLOW_PRIVATE: 'webhooks',
    WEBHOOK_ENDPOINT_RETRIES_S: '1,1,1,1,1,1,1,1,1,1',
  };
  service = await startProcess(environment);
  events = await openEventLedger(service);
  ledger = openLedger(service, CLIENTS);
  for (const victims of KILLS) {
    written = await ledger.acknowledges(WRITES_BETWEEN);
    await kill(victims);
    service = await startProcess(environment);
  }
  await ledger.close();
  await eventually(
    () => openJobs(dataDir),
    (jobs) => jobs.length === 0,
    { withinMs: 90_000 },
  );
}, 400_000);

afterAll(async () => {
  await events?.close();
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

async function kill(victims: readonly Victim[]): Promise<void> {
  if (victims.includes('database'))
    process.kill(
      Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10),
      'SIGKILL',
    );
  if (victims.includes('service'))
    return void expect(await service.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
  // Without its database the service says so and ends, for its supervisor to start both again.
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.log()).toContain('the embedded database ended');
}

const STATES = ['pending_upload', 'processing', 'ready'];
const get = (path: string) => call(service, `GET ${path}`, { headers: asService });
const folderOf = (name: string) => join(dataDir, 'objects', name);
const withoutShard = (folder: string, file: string) => relative(folderOf(folder), file).slice('ff/'.length);
const stored = async () => [
  ...(await filesNaming(folderOf('originals'))).map(
    (file) => `originals/${withoutShard('originals', file).replace('_', '/')}`,
  ),
  ...(await filesNaming(folderOf('objects'))).map((file) => withoutShard('objects', file)),
  ...(await objectsIn(join(dataDir, 'objects'))),
];

const storedEvents = () =>
  rows(
    dataDir,
    "select id, asset_id from events where type <> 'asset.checked' order by transaction_id, id",
  ) as Promise<{ id: string; asset_id: string }[]>;

async function living(): Promise<{ entry: Entry; asset: Record<string, unknown> }[]> {
  const found = [];
  for (const entry of ledger.entries) {
    const { status, body } = entry.id ? await get(`/media/${entry.id}`) : { status: 404, body: undefined };
    if (status === 200 && body) found.push({ entry, asset: body.data });
    // Nothing that was acknowledged is gone, unless it was removed.
    else if (entry.id)
      expect({ key: entry.key, status, deleted: entry.deleted }).not.toMatchObject({ deleted: 'no' });
  }
  return found;
}

test('the clients made enough requests and got no unexpected response', () => {
  expect(written).toBeGreaterThanOrEqual(KILLS.length * WRITES_BETWEEN);
  expect(ledger.surprises).toEqual([]);
  expect(ledger.entries.filter(({ deleted }) => deleted === 'yes').length).toBeGreaterThan(4 * ROUNDS);
  expect(ledger.entries.filter(({ reached }) => reached === 'ready').length).toBeGreaterThan(10 * ROUNDS);
});

test('every acknowledged asset keeps its bytes and its state or a later one', async () => {
  for (const { entry, asset } of await living()) {
    const summary = JSON.stringify({ entry: { ...entry, bytes: undefined }, asset });
    expect(entry.deleted, summary).not.toBe('yes');
    expect(STATES.indexOf(String(asset['stream_status'])), summary).toBeGreaterThanOrEqual(
      STATES.indexOf(entry.reached),
    );
    if (entry.bytes && asset['stream_status'] !== 'pending_upload')
      expect(asset['stream_status'], summary).toBe('ready');
    const { status, body } = await get(`/media/${entry.id}/download-url`);
    expect(status, summary).toBe(asset['uploaded_at'] ? 200 : 404);
    if (entry.stored === 'yes') expect(asset['uploaded_at'], summary).not.toBeNull();
    if (status === 200)
      expect(
        Buffer.from(await (await fetch(String(body.data['url']))).arrayBuffer()).equals(
          entry.bytes as Buffer,
        ),
        summary,
      ).toBe(true);
  }
});

test('an event stream that resumes has every event once, in order', async () => {
  const stored = await storedEvents();
  await eventually(
    async () => events.streamed.length,
    (length) => length >= stored.length,
  );
  expect(events.streamed).toEqual(stored.map(({ id }) => id));
});

test('a webhook endpoint has every event, in the order of each asset', async () => {
  const stored = await storedEvents();
  const received = await eventually(
    async () => [...new Map(events.delivered().map((event) => [event.id, event])).values()],
    ({ length }) => length >= stored.length,
    { withinMs: 120_000 },
  );
  const byAsset = (all: readonly { id: string; asset_id: string | null }[]) =>
    Object.fromEntries(
      [...Map.groupBy(all, ({ asset_id: asset }) => asset)].map(([asset, of]) => [
        asset,
        of.map(({ id }) => id),
      ]),
    );
  expect(byAsset(received)).toEqual(byAsset(stored));
});

test('unacknowledged writes are complete or absent, and no Idempotency-Key created two assets', async () => {
  expect(await halves(dataDir)).toEqual([]);
  expect(await rows(dataDir, 'select id from events where asset_id not in (select id from assets)')).toEqual(
    [],
  );
  expect(
    await rows(dataDir, 'select id from assets where id not in (select resource_id from idempotency_keys)'),
  ).toEqual([]);
  const made = await rows(dataDir, 'select caller, key, resource_id from idempotency_keys');
  expect(made.length).toBeLessThanOrEqual(ledger.entries.length);
  const ids = new Map(made.map(({ key, resource_id: id }) => [key, id]));
  for (const { key, id } of ledger.entries) if (id) expect(ids.get(key)).toBe(id);
});

test('the store has no partial files, and no orphans after one cleanup', async () => {
  expect(await filesNaming(join(dataDir, 'objects', 'incoming'))).toEqual([]);
  // As if ten seconds had passed: the lease of a killed writer lasts so long.
  await rows(dataDir, "update uploads set lease_until = now() where protocol = 'put'");
  const before = await stored();
  const found = keysOf(await runStorageCheck(service, { orphan_age_s: 0 }));
  expect((await stored()).sort()).toEqual(before.sort());
  expect(keysOf(await runStorageCheck(service, REMOVE_ORPHANS))).toEqual(found);
  expect((await runStorageCheck(service, { orphan_age_s: 0 })).findings).toEqual([]);

  const left = await stored();
  expect(left.length).toBe(before.length - found.length);
  const owners = await rows(dataDir, 'select id from assets where deleted_at is null');
  expect(left.filter((key) => !owners.some(({ id }) => key.split('/')[1] === id))).toEqual([]);
  const originals = await rows(
    dataDir,
    'select id, original_upload from assets where deleted_at is null and uploaded_at is not null',
  );
  // A small PUT stores its object before its only statement; the next PUT or the expiry removes it.
  const pending = await rows(dataDir, 'select id from assets where uploaded_at is null');
  const isPending = (key: string) => pending.some(({ id }) => key.split('/')[1] === id);
  const stays = left.filter((key) => key.startsWith('originals/') && !isPending(key));
  expect(stays.sort()).toEqual(
    originals.map(({ id, original_upload: upload }) => `originals/${id}/${upload}`).sort(),
  );
});
