// An operator sees what lies in the store without an asset before anything is removed.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidV7 } from '../../service/src/platform/uuid-v7.ts';
import { originalKey } from '../../service/src/storage/object-key.ts';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../support/envelope.ts';
import { IMAGE, openUpload, putBytes } from '../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
}, 120_000);
afterAll(() => service?.stop());

const ask = (json?: object, headers: Record<string, string> = asOperator) =>
  call(service, 'POST /admin/orphans', { headers, ...(json && { json }) });

test('what nobody points to is shown unless removal is asked for, and what an asset points to stays', async () => {
  const started = await openUpload(service, 'ann', IMAGE);
  await putBytes(started, Buffer.from('bytes of an asset'));
  const orphan = originalKey(uuidV7());
  await service.parts.store.put(orphan, Readable.from([Buffer.from('bytes of nobody')]), 1000);
  const found = { object_count: 1, objects: [orphan], asset_count: 0, assets: [] };
  for (const wish of [undefined, {}, { remove: false }])
    expect(expectSuccess(await ask(wish))).toEqual({ ...found, removed: false });
  expect(expectSuccess(await ask({ remove: true }))).toEqual({ ...found, removed: true });
  expect(expectSuccess(await ask())).toEqual({ ...found, object_count: 0, objects: [], removed: false });
  expect(await service.parts.store.size(originalKey(started.asset_id))).toBeGreaterThan(0);
});

test('only the operator may ask, and only by yes or no', async () => {
  for (const headers of [{}, asUser('ann'), asService])
    expectRefusal(await ask({ remove: true }, headers), 401);
  for (const remove of ['true', 1, null]) expectFieldRefused(await ask({ remove }), 'remove');
});
