// The erasure of an owner removes its collections, counts them in the receipt, and takes none meanwhile.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addItems, createCollection, openAssets, readOrder } from '../../support/assets/collections.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { completed, erase, receiptOf } from '../../support/service/erasures.ts';
import { rowsNaming } from '../../support/service/owner-traces.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
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
