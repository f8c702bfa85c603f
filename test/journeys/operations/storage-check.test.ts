// Operators compare the database with the store, see what is lost or wasted, and settle it.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import sharp from 'sharp';
import type { StorageFinding } from '@mediary/contract/schemas/admin/storage-checks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { uuidV7 } from '../../../service/src/platform/values/uuid-v7.ts';
import {
  type ObjectKey,
  originalPrefix,
  renditionsPrefix,
  uploadKey,
} from '../../../service/src/storage/object-key.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, ingest, offer, openUpload, putBytes, settled } from '../../support/media.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { keysOf, REMOVE_ORPHANS, runStorageCheck } from '../../support/service/storage-check.ts';
import { isStoreRemote } from '../../support/store/test-store.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const put = (key: ObjectKey, text: string) =>
  service.adapters.store.put(key, Readable.from([Buffer.from(text)]), 1000);
const assetOf = async (id: string): Promise<AssetJson> =>
  (await call<AssetJson>(service, `GET /media/${id}`, { headers: asUser('ann') })).body.data;

const FAILED = 'A storage check found that the stored original is missing; the asset failed.';
const STARTED_AGAIN = 'A storage check started processing again (attempt 2).';
const sentencesOf = async (id: string): Promise<string[]> =>
  (await timelineOf(service, id)).map(({ sentence }) => sentence);

function repairsByAsset(findings: readonly StorageFinding[]): Record<string, string[]> {
  const byAsset = Map.groupBy(findings, ({ asset_id: id }) => id ?? '');
  const repairsOf = (found: readonly StorageFinding[]) =>
    found.map(({ kind, repair }) => `${kind} ${repair}`).sort();
  return Object.fromEntries([...byAsset].map(([id, found]) => [id, repairsOf(found)]));
}

async function keysBelow(prefix: ObjectKey): Promise<ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for await (const key of service.adapters.store.list(prefix)) keys.push(key);
  return keys;
}

async function uploaded(): Promise<string> {
  const started = await openUpload(service, 'ann', IMAGE);
  expect((await putBytes(started, Buffer.from('bytes of an asset'))).status).toBe(200);
  return started.asset_id;
}

async function remove(keys: readonly ObjectKey[]): Promise<void> {
  expect(keys).not.toEqual([]);
  for (const key of keys) await service.adapters.store.remove(key);
}

async function ingestPicture(background: string): Promise<AssetJson> {
  const bytes = await sharp({ create: { width: 64, height: 48, channels: 3, background } })
    .png()
    .toBuffer();
  return settled(service, 'ann', (await offer(service, 'ann', { bytes, fields: IMAGE })).id);
}

const ready = async (id: string): Promise<AssetJson> =>
  eventually(
    () => assetOf(id),
    ({ stream_status: status }) => status === 'ready',
  );

test('an object of an unknown asset is reported, and deleted only on request', async () => {
  const id = await uploaded();
  const key = uploadKey(uuidV7(), randomUUID());
  await put(key, 'bytes of nobody');
  const found = { kind: 'unknown_object', key, size_bytes: 15, repair: 'none', repaired_at: null };
  expect((await runStorageCheck(service)).findings).toMatchObject([found]);
  expect((await runStorageCheck(service, { repair: true })).findings).toMatchObject([found]);
  expect(await service.adapters.store.size(key)).toBe(15);
  const { check, findings } = await runStorageCheck(service, REMOVE_ORPHANS);
  expect(findings).toMatchObject([{ key, repair: 'delete_object', repaired_at: expect.any(String) }]);
  expect(check).toMatchObject({
    status: 'done',
    finding_count: 1,
    repaired_count: 1,
    findings_by_kind: { unknown_object: 1 },
    skipped_providers: [],
  });
  expect((await runStorageCheck(service)).findings).toEqual([]);
  expect(await keysBelow(originalPrefix(id))).toHaveLength(1);
});

test('an object of a deleted asset is an orphan once it is old enough', async () => {
  const id = await uploaded();
  expectSuccess(await call(service, `DELETE /media/${id}`, { headers: asUser('ann') }));
  await eventually(
    () => keysBelow(originalPrefix(id)),
    (keys) => keys.length === 0,
  );
  const key = uploadKey(id, randomUUID());
  await put(key, 'restored');
  expect((await runStorageCheck(service, { repair: true, orphan_age_s: 3600 })).findings).toEqual([]);
  const { findings } = await runStorageCheck(service, { repair: true });
  expect(findings).toMatchObject([{ kind: 'orphaned_object', key, asset_id: id }]);
  expect(await service.adapters.store.size(key)).toBeUndefined();
});

test('an upload that its asset does not reference is found, unless its writer is active', async () => {
  const { store, db } = service.adapters;
  const { asset_id: id } = await openUpload(service, 'ann', IMAGE);
  const writer = randomUUID();
  const key = uploadKey(id, writer);
  await put(key, 'bytes of a slow writer');
  const lease = (until: string) =>
    db.one(sql('test: lease of an upload')`
      insert into uploads
        (id, asset_id, owner_user_id, attempt, protocol, lease_holder, lease_until, expires_at)
      values (${writer}, ${id}, 'ann', 1, 'put', ${writer}, now() + ${until}::interval,
        now() + interval '1 hour')
      on conflict (id) do update set lease_until = excluded.lease_until`);
  await lease('1 minute');
  expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
  await lease('-1 second');
  // The asset has no other bytes.
  expect((await runStorageCheck(service, { repair: true })).findings).toMatchObject([
    { kind: 'unknown_object', key, repair: 'none' },
  ]);
  expect(keysOf(await runStorageCheck(service, REMOVE_ORPHANS))).toEqual([key]);
  expect(await store.size(key)).toBeUndefined();
  const row = await db.one(sql('test: row of an upload', { id: 'uuid' })`
    select id from uploads where id = ${writer}`);
  expect(row, 'the slow writer cannot finish any more').toBeUndefined();
});

test('lost files of ready assets are made again, or the assets say what is lost', async () => {
  const file = await makeClip({ seconds: 2 });
  const [again, cut, gone, warned] = await Promise.all(
    [1, 2, 3, 4].map(() => ingest(service, 'ann', { file })),
  );
  const [photo, blank] = await Promise.all(['red', 'blue'].map(ingestPicture));
  const ids = [again, cut, gone, warned, photo, blank].map((asset) => (asset as AssetJson).id);
  const [agains = '', cuts = '', gones = '', warneds = '', photos = '', blanks = ''] = ids;
  expect((await runStorageCheck(service, { checksums: true })).findings).toEqual([]);
  await remove(await keysBelow(renditionsPrefix(agains)));
  await remove((await keysBelow(renditionsPrefix(cuts))).filter((key) => key.endsWith('r0-00001.m4s')));
  await remove([...(await keysBelow(originalPrefix(gones))), ...(await keysBelow(renditionsPrefix(gones)))]);
  await remove(await keysBelow(originalPrefix(warneds)));
  await remove(
    (await keysBelow(`variants/${photos}/` as ObjectKey)).filter((key) => key.endsWith('thumb.jpg')),
  );
  await remove(await keysBelow(originalPrefix(blanks)));

  const expected = {
    [agains]: ['renditions_missing process_again'],
    [cuts]: ['renditions_missing process_again'],
    [gones]: ['original_missing fail', 'renditions_missing none'],
    [warneds]: ['original_missing warn'],
    [photos]: ['thumbnail_missing process_again'],
    [blanks]: ['original_missing warn'],
  };
  for (const repair of [false, true]) {
    const { findings } = await runStorageCheck(service, { repair });
    expect(repairsByAsset(findings)).toEqual(expected);
    expect(findings.filter(({ repair_error: error }) => error !== null)).toEqual([]);
  }
  for (const id of [agains, cuts, photos]) await ready(id);
  expect(await assetOf(gones)).toMatchObject({
    stream_status: 'failed',
    failure: { code: 'original_missing', retryable: false },
    playback: null,
  });
  expect(await sentencesOf(gones)).toContain(FAILED);
  expect((await sentencesOf(agains)).join()).toContain(STARTED_AGAIN);
  for (const id of [warneds, blanks])
    expect(await assetOf(id)).toMatchObject({
      stream_status: 'ready',
      warnings: expect.arrayContaining([expect.objectContaining({ code: 'original_missing' })]),
    });
  // The runs that others have replaced; PURGE_GRACE_DAYS keeps none of them here.
  await runStorageCheck(service, REMOVE_ORPHANS);
  expect((await runStorageCheck(service)).findings).toEqual([]);
});

test('what is left of a video without its original stays, because it may be the only copy', async () => {
  const { id } = await ingest(service, 'ann', { file: await makeClip({ seconds: 2 }) });
  const renditions = await keysBelow(renditionsPrefix(id));
  const lost = renditions.filter((key) => key.endsWith('r0-00001.m4s'));
  await remove([...(await keysBelow(originalPrefix(id))), ...lost]);
  const { findings } = await runStorageCheck(service, REMOVE_ORPHANS);
  expect(findings.map(({ kind, repair }) => `${kind} ${repair}`).toSorted()).toEqual([
    'original_missing warn',
    'renditions_missing none',
  ]);
  expect(await assetOf(id)).toMatchObject({ stream_status: 'ready' });
  await runStorageCheck(service, REMOVE_ORPHANS);
  expect(await keysBelow(renditionsPrefix(id))).toHaveLength(renditions.length - lost.length);
  expectSuccess(await call(service, `DELETE /media/${id}`, { headers: asUser('ann') }));
  await eventually(
    () => keysBelow(renditionsPrefix(id)),
    (keys) => keys.length === 0,
  );
});

test('damaged originals are reported, by size and on request by SHA-256, and stay', async () => {
  const [short, changed] = [await uploaded(), await uploaded()];
  const replace = async (id: string, text: string) => {
    const [key] = await keysBelow(originalPrefix(id));
    await remove([key as ObjectKey]);
    await put(key as ObjectKey, text);
  };
  await replace(short, 'bytes of an');
  await replace(changed, 'BYTES of an asset');
  const mismatch = { kind: 'size_mismatch', asset_id: short, size_bytes: 11, expected_size_bytes: 17 };
  expect((await runStorageCheck(service, { repair: true })).findings).toMatchObject([mismatch]);
  const { findings } = await runStorageCheck(service, { checksums: true, repair: true });
  expect(findings).toMatchObject([
    mismatch,
    { kind: 'checksum_mismatch', asset_id: changed, repair: 'none' },
  ]);
  for (const id of [short, changed]) {
    expect(await keysBelow(originalPrefix(id))).toHaveLength(1);
    expectSuccess(await call(service, `DELETE /media/${id}`, { headers: asUser('ann') }));
    await eventually(
      () => keysBelow(originalPrefix(id)),
      (keys) => keys.length === 0,
    );
  }
});

test('files of other programs are neither reported nor removed', async () => {
  const { store } = service.adapters;
  const foreign = ['originals/notes/readme', `renditions/${uuidV7()}/backup/notes.txt`] as ObjectKey[];
  // A folder that the console of an S3 store creates.
  if (isStoreRemote) foreign.push('originals/' as ObjectKey);
  else
    for (const name of ['.DS_Store', 'Thumbs.db'])
      await writeFile(join(service.dataDir, 'objects/originals/00', name), 'a file of an operating system');
  for (const key of foreign) await put(key, 'foreign');
  expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
  for (const key of foreign) expect(await store.size(key), key).toBe(7);
});
