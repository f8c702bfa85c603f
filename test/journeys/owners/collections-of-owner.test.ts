// The erasure of an owner removes its collections, counts them in the receipt, and takes none meanwhile.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { IMAGE, offer, settled } from '../../support/media.ts';
import { addItems, createCollection, openAssets, readOrder } from '../../support/assets/collections.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { entriesOf, exportOf, importTo } from '../../support/service/archives.ts';
import { completed, erase, receiptOf } from '../../support/service/erasures.ts';
import { rowsNaming } from '../../support/service/owner-traces.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { isStoreDirect: false });
});
afterAll(() => service?.stop());

test('an erasure leaves nothing of the collections of an owner, and those of others', async () => {
  const assets = await openAssets(service, 'erika', 2);
  const first = await createCollection(service, 'erika', { name: 'Private pictures' });
  const second = await createCollection(service, 'erika');
  for (const { id } of [first, second]) expectSuccess(await addItems({ service, user: 'erika', id }, assets));
  const kept = await openAssets(service, 'ben', 1);
  const others = { service, user: 'ben', id: (await createCollection(service, 'ben')).id };
  expectSuccess(await addItems(others, kept));

  // Held assets keep the erasure open.
  const hold = { headers: asService, json: { owner_user_id: 'erika' } };
  expectSuccess(await call(service, `PUT /media/${assets[0]}/legal-hold`, hold));
  const { id } = await erase(service, 'erika');
  const creation = { headers: asUser('erika'), json: { name: 'More' } };
  expect(expectRefusal(await call(service, 'POST /collections', creation), 409).details).toMatchObject({
    reason: 'owner_is_being_erased',
  });
  const release = `DELETE /media/${assets[0]}/legal-hold?owner_user_id=erika`;
  expectSuccess(await call(service, release, { headers: asService }));

  await completed(service, 'erika', id);
  const { lines } = await receiptOf(service, 'erika', id);
  expect(lines).toContainEqual(expect.objectContaining({ kind: 'collections', count: 2 }));
  expect(await rowsNaming(service.dataDir, ['erika', 'Private pictures', first.id, second.id])).toEqual([]);
  expect(await readOrder(others)).toEqual(kept);
});

test('an export has the collections of an owner, and its import brings them back', async () => {
  const bytes = await makeSmallPng();
  const assets: string[] = [];
  for (let number = 0; number < 3; number += 1) {
    const { id } = await offer(service, 'ann', { bytes, fields: IMAGE });
    await settled(service, 'ann', id);
    assets.push(id);
  }
  const [a = '', b = '', c = ''] = assets;
  const created = await createCollection(service, 'ann', { name: 'Kept', metadata: { season: 1 } });
  const collection = { service, user: 'ann', id: created.id };
  expectSuccess(await addItems(collection, [b, a]));
  expectSuccess(await addItems(collection, [c], { after: b }));
  expectSuccess(await call(service, `DELETE /media/${c}?trash=true`, { headers: asUser('ann') }));
  const archive = await exportOf(service, 'ann');
  const names = (await entriesOf(archive)).map(({ name }) => name);
  expect(names.slice(-2)).toEqual([`collections/${created.id}.json`, 'manifest.json']);

  await completed(service, 'ann', (await erase(service, 'ann')).id);
  for (const expected of [{ imported_count: 3 }, { already_there_count: 3 }]) {
    const report = expectSuccess(await importTo(service, 'ann', archive));
    expect(report).toMatchObject({ is_complete: true, counts: expected });
  }
  expect(await readOrder(collection)).toEqual([b, a]);
  expectSuccess(await call(service, `POST /media/${c}/restore`, { headers: asUser('ann') }));
  expect(await readOrder(collection)).toEqual([b, c, a]);
  const restored = await call(service, `GET /collections/${created.id}`, { headers: asUser('ann') });
  expect(expectSuccess(restored)).toMatchObject({
    name: 'Kept',
    metadata: { season: 1 },
    created_at: created['created_at'],
  });
});
