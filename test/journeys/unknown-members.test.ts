// PATCH rejects unknown members by name (contract B2).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../support/envelope.ts';
import { openUpload, readAsset } from '../support/media.ts';
import { asService, asUser, call, startTestService, type TestService } from '../support/service.ts';

const ALLOWED = ['owner_user_id', 'title', 'tags', 'metadata', 'visibility', 'poster_time_ms'];

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

const patch = (id: string, json: object, headers: Record<string, string> = asUser('ann')) =>
  call(service, `PATCH /media/${id}`, { headers, json });

test('unknown members are rejected by name, and nothing changes', async () => {
  const { asset } = await openUpload(service, 'ann');
  const one = expectRefusal(await patch(asset.id, { title: 'New', titel: 'Newer' }), 400);
  expect(one.message).toContain('"titel"');
  expect(one.details).toMatchObject({ field: 'titel', allowed: ALLOWED });
  const two = expectRefusal(await patch(asset.id, { filename: 'b.mp4', stream_status: 'ready' }), 400);
  expect(two.message).toContain('"filename", "stream_status"');
  expect(await readAsset(service, 'ann', asset.id)).toEqual(asset);
});

test('owner_user_id is a known member for every caller', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  for (const headers of [asUser('ann'), asService])
    expectSuccess(await patch(id, { owner_user_id: 'ann', title: 'New' }, headers));
});
