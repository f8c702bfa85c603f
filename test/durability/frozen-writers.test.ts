// A writer stops at any await of its upload, for longer than its lease: what another writer stored meanwhile
// stays, byte for byte.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Asset } from '../../service/src/assets/asset.ts';
import { createAssetLoader } from '../../service/src/assets/asset-lookup.ts';
import { findAssetById } from '../../service/src/assets/asset-lookup.ts';
import { findDuplicate } from '../../service/src/lifecycle/commands.ts';
import { removeUnlessDeferred } from '../../service/src/lifecycle/objects/deferred-removals.ts';
import { createAssetStore } from '../../service/src/lifecycle/store.ts';
import type { Database } from '../../service/src/platform/postgres/database.ts';
import { sql } from '../../service/src/platform/postgres/sql.ts';
import { type ObjectKey, originalKey, originalPrefix } from '../../service/src/storage/object-key.ts';
import { createUpkeepContext } from '../../service/src/upkeep/context.fixture.ts';
import { repairFinding } from '../../service/src/upkeep/checks/repairs.ts';
import { compareObjects } from '../../service/src/upkeep/checks/stored-objects.ts';
import { purgeAssetJob } from '../../service/src/upkeep/purge-asset.job.ts';
import { receiveUpload } from '../../service/src/uploads/put/byte-uploads.ts';
import type { UploadsContext } from '../../service/src/uploads/context.ts';
import { contextOf } from '../../service/src/platform/values/context.fixture.ts';
import { createPutClaims } from '../../service/src/uploads/original/store-original.ts';
import { endExpiredPuts } from '../../service/src/uploads/original/uploads.sql.ts';
import { IMAGE, openUpload, putBytes, type Started } from '../support/media.ts';
import { eventually, startTestService, type TestService } from '../support/service.ts';

const SIZE = 3000;
const INTERLEAVINGS = 100;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', LOG_LEVEL: 'error' });
});
afterAll(() => service?.stop());

const now = () => new Date();
const find = (id: string) => findAssetById({ loader: createAssetLoader(service.adapters.db) }, id);
const storeOn = (db: Database) =>
  createAssetStore({
    db,
    loader: createAssetLoader(db),
    jobs: service.adapters.jobs,
    settings: { purgeGraceDays: 0 },
    now,
  });

/** What the first writer sends: everything, with its length or without, less, or a body that breaks off. */
const BODIES = ['whole', 'unknown length', 'short', 'broken'] as const;
/** What happens while it is stopped. */
const EVENTS = ['takeover', 'takeover and cleanup', 'cleanup'] as const;
type Case = {
  readonly body: (typeof BODIES)[number];
  readonly event: (typeof EVENTS)[number];
  /** At which await the first writer stops. */
  readonly stop: number;
};

/** Stops at the await of this number; `stopped` resolves there, or when the work is over before. */
function stopAt(number: number) {
  const [stopped, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const pass = async () => {
    count += 1;
    if (count !== number) return;
    stopped.resolve();
    await resumed.promise;
  };
  return { pass, stopped, resume: resumed.resolve, count: () => count };
}

type Pass = () => Promise<void>;

/** Passes before and after each call of a method. */
const paused = <T extends object>(target: T, pass: Pass): T =>
  new Proxy(target, {
    get: (object, name) => {
      const method = Reflect.get(object, name) as unknown;
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        await pass();
        const result: unknown = await method.apply(object, args);
        await pass();
        return result;
      };
    },
  });

async function* bodyOf(bytes: Buffer, body: Case['body'], pass: Pass): AsyncGenerator<Uint8Array> {
  await pass();
  yield bytes.subarray(0, SIZE / 2);
  await pass();
  if (body === 'broken') throw new Error('the connection is gone');
  if (body !== 'short') yield bytes.subarray(SIZE / 2);
  await pass();
}

async function firstWriter(
  started: Started,
  bytes: Buffer,
  { body, pass }: { body: Case['body']; pass: Pass },
) {
  const { db, store, urlSecrets, requireDatabaseSpace } = service.adapters;
  const frozen = paused(db, pass);
  const ctx = contextOf<UploadsContext>({
    settings: { maxUploadBytes: 1e6, uploadTtlSeconds: 3600, multipartUploadBytes: 1e6, urlSecrets },
    db: frozen,
    store: paused(store, pass),
    clocks: { now },
    lifecycle: {
      update: storeOn(frozen).update,
      findAssetById: async (id) => paused({ find }, pass).find(id),
      findDuplicate: (asset, sha256) => findDuplicate({ db: frozen }, asset, sha256),
    },
    usage: { underQuota: (_owner, work) => work(), findByteQuota: async () => undefined },
    admission: { limitOwner: async () => {}, requireDatabaseSpace },
    intake: { claimPut: createPutClaims(frozen) },
  });
  const transfer = {
    assetId: started.asset_id,
    ticket: new URL(started.upload_url as string).searchParams.get('ticket') ?? '',
    contentType: 'image/png',
    contentEncoding: undefined,
    contentRange: undefined,
    length: body === 'whole' ? SIZE : undefined,
    bytes: bodyOf(bytes, body, pass),
  };
  return receiveUpload(ctx, transfer).then(
    () => true,
    () => false,
  );
}

const expireLease = (id: string) =>
  service.adapters.db.one(
    sql('test: expire lease')`update uploads set lease_until = now() - interval '1 second'
       where asset_id = ${id} and finished_at is null`,
  );

async function cleanUp(id: string): Promise<void> {
  const { adapters } = service;
  const ctx = createUpkeepContext({
    ...adapters,
    clocks: { now, databaseNow: async () => now() },
    lifecycle: {
      findAssetById: find,
      removeUnlessDeferred: (asset, place) => removeUnlessDeferred(adapters, asset, place),
    },
    uploads: {
      endExpiredUploads: (ids) => endExpiredPuts(adapters.db, ids),
      discardClosedUploads: async () => {},
    },
    encoding: { deleteGrowingIndexes: async () => {} },
    providers: { isHosted: () => false, removeVideo: async () => {}, releaseEncoder: async () => {} },
  });
  const options = { repair: true, deleteUnknown: true, checksums: false, orphanAgeSeconds: 0 };
  for await (const { findings } of compareObjects(ctx, options, ''))
    for (const finding of findings) await repairFinding(ctx, finding, options);
  const purge = purgeAssetJob(ctx);
  await purge({ payload: { assetId: id }, signal: new AbortController().signal });
}

/** Whether a second writer was acknowledged meanwhile. */
async function meanwhile(event: Case['event'], started: Started, bytes: Buffer): Promise<boolean> {
  await expireLease(started.asset_id);
  const isStored = event !== 'cleanup' && (await putBytes(started, bytes)).status === 200;
  if (event !== 'takeover') await cleanUp(started.asset_id);
  return isStored;
}

async function keysOf(id: string): Promise<ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for await (const key of service.adapters.store.list(originalPrefix(id))) keys.push(key);
  return keys;
}

/** The stored bytes are the acknowledged ones, and no other files are left. */
async function expectKept(asset: Asset, acknowledged: Buffer | undefined, which: string): Promise<void> {
  expect(asset.uploaded_at !== null, which).toBe(acknowledged !== undefined);
  const expected = asset.uploaded_at ? [originalKey(asset)] : [];
  for (const key of expected) {
    const stored = await service.adapters.store.read(key);
    const bytes = stored?.bytes && Buffer.from(stored.bytes).toString('hex');
    expect(bytes, which).toBe(acknowledged?.toString('hex'));
  }
  await eventually(
    () => keysOf(asset.id),
    (keys) => JSON.stringify(keys) === JSON.stringify(expected),
    { withinMs: 10_000 },
  );
}

/** Returns whether the first writer got as far as the await at which it was to stop. */
async function interleave({ body, event, stop }: Case): Promise<boolean> {
  const started = await openUpload(service, 'ann', { ...IMAGE, size_bytes: SIZE });
  const [first, second] = [randomBytes(SIZE), randomBytes(SIZE)];
  const gate = stopAt(stop);
  const writing = firstWriter(started, first, { body, pass: gate.pass });
  await Promise.race([gate.stopped.promise, writing]);
  const isStopped = gate.count() >= stop;
  const isSecondStored = isStopped && (await meanwhile(event, started, second));
  gate.resume();
  const isFirstStored = await writing;
  const which = JSON.stringify({ body, event, stop, isFirstStored, isSecondStored });
  expect(isFirstStored && isSecondStored, which).toBe(false);
  const asset = await find(started.asset_id);
  await expectKept(asset as Asset, isSecondStored ? second : isFirstStored ? first : undefined, which);
  return isStopped;
}

test('acknowledged uploads survive a frozen writer at every step, whatever other requests do', async () => {
  let interleavings = 0;
  for (const body of BODIES)
    for (const event of EVENTS)
      for (let stop = 1; await interleave({ body, event, stop }); stop++) interleavings += 1;
  expect(interleavings).toBeGreaterThanOrEqual(INTERLEAVINGS);
});
