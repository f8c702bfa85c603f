// A replacement that is deleted while its file is copied to the asset leaves nothing there.
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetPrefixes, type ObjectKey, toKeyOf } from '../../../service/src/storage/object-key.ts';
import { paintPng, replacementsOf } from '../../support/assets/replacements.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { complete, IMAGE, putBytes, settled, type Started, storeImage } from '../../support/media.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

const ann = asUser('ann');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ TRASH_DAYS: '0' }, { isStoreDirect: false });
});
afterAll(() => service?.stop());

const { replace, uploadReplacement, replacedBy, jobsEnd } = replacementsOf(() => service);

async function keysOf(id: string): Promise<ObjectKey[]> {
  const keys: ObjectKey[] = [];
  for (const prefix of assetPrefixes(id))
    for await (const key of service.adapters.store.list(prefix)) keys.push(key);
  return keys.sort();
}

/** The job of the replacement was killed when it had copied the file, and has not run again. */
async function deleteReplacement() {
  const image = await storeImage(service, await paintPng(250, 90));
  const before = await keysOf(image.id);
  const [hold, json] = [`media/${image.id}/legal-hold`, { owner_user_id: 'ann' }];
  const started = expectSuccess<Started>(await replace(image.id, IMAGE));
  const id = started.asset_id;
  await putBytes(started, await paintPng(20, 120));
  // A job does not start during a hold.
  expectSuccess(await call(service, `PUT /${hold}`, { headers: asService, json }));
  await complete(service, 'ann', id);
  await settled(service, 'ann', id);
  await jobsEnd();
  const copies = await keysOf(id);
  for (const key of copies) await service.adapters.store.copy(key, toKeyOf(image.id, key));
  expect(await keysOf(image.id)).toHaveLength(before.length + copies.length);
  expectSuccess(await call(service, `DELETE /media/${id}`, { headers: ann }));
  expectSuccess(await call(service, `DELETE /${hold}`, { headers: asService, json }));
  await jobsEnd();
  return { image, before, id };
}

async function runTakeOver(assetId: string): Promise<void> {
  const { db, jobs } = service.adapters;
  const job = { name: 'take-over', payload: { assetId } } as const;
  await db.transaction((tx) => jobs.sendFor(tx, 'ann', job));
  await jobsEnd();
}

test('the next run of its job removes the copies, and nothing else', async () => {
  const { image, before, id } = await deleteReplacement();
  await runTakeOver(id);
  expect(await keysOf(image.id)).toEqual(before);
  const next = await uploadReplacement(image.id, await paintPng(20, 120), { ...IMAGE, filename: 'next.png' });
  await replacedBy(image.id, 'next.png');
  await jobsEnd();
  const replaced = await keysOf(image.id);
  for (const ended of [id, next]) await runTakeOver(ended);
  expect(await keysOf(image.id)).toEqual(replaced);
});

test('the next replacement does not get its files', async () => {
  const { image, id } = await deleteReplacement();
  await uploadReplacement(image.id, await paintPng(200, 60), { ...IMAGE, filename: 'next.png' });
  await replacedBy(image.id, 'next.png');
  const thumbnail = async () => {
    const { body } = await call<{ thumbnail: string }>(service, `GET /media/${image.id}/playback`, {
      headers: ann,
    });
    return Buffer.from(await (await fetch(body.data.thumbnail)).arrayBuffer());
  };
  const { dominant } = await sharp(await thumbnail()).stats();
  expect(dominant.r).toBeGreaterThan(150);
  await runTakeOver(id);
  expect((await sharp(await thumbnail()).stats()).dominant.r).toBeGreaterThan(150);
});
