// Unknown members and parameters are named; PATCH and strict requests refuse them (contract B1).
import { UpdateAssetRequest } from '@mediary/contract/schemas/library';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { openUpload, readAsset } from '../../support/media.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

const ALLOWED = Object.keys(UpdateAssetRequest.properties);

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CORS_ORIGINS: 'https://app.test' });
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
  expect(two.message).toContain('"filename"; Unknown member "stream_status"');
  expect(two.details?.['errors']).toMatchObject([{ field: 'filename' }, { field: 'stream_status' }]);
  const byQuery = await call(service, `PATCH /media/${asset.id}?titel=a`, {
    headers: asUser('ann'),
    json: {},
  });
  expect(expectRefusal(byQuery, 400).details).toMatchObject({ field: 'titel', reason: 'unknown_member' });
  expect(await readAsset(service, 'ann', asset.id)).toEqual(asset);
});

test('owner_user_id is a known member for every caller', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  for (const headers of [asUser('ann'), asService])
    expectSuccess(await patch(id, { owner_user_id: 'ann', title: 'New' }, headers));
});

const UPLOAD = { filename: 'a.mp4', content_type: 'video', mime_type: 'video/mp4', visiblity: 'public' };
const strict = { ...asUser('ann'), prefer: 'handling=strict' };

test('elsewhere they are ignored and listed in a header that web pages can read', async () => {
  const answer = await fetch(`${service.url}/media/upload-url?deduplicat=true`, {
    method: 'POST',
    headers: { ...asUser('ann'), 'content-type': 'application/json', origin: 'https://app.test' },
    body: JSON.stringify(UPLOAD),
  });
  expect([answer.status, answer.headers.get('ignored-members')]).toEqual([200, 'deduplicat, visiblity']);
  expect(answer.headers.get('access-control-expose-headers')).toContain('Ignored-Members');
  const list = await fetch(`${service.url}/media?stats=ready&limit=1`, { headers: asUser('ann') });
  expect([list.status, list.headers.get('ignored-members')]).toEqual([200, 'stats']);
  const known = await fetch(`${service.url}/media?stream_status=ready`, { headers: asUser('ann') });
  expect([known.status, known.headers.get('ignored-members')]).toEqual([200, null]);
});

test.each([
  ['POST /media/upload-url?expand=asset', UPLOAD, 'visiblity'],
  ['GET /media?stats=ready', undefined, 'stats'],
  ['GET /usage?owner=ann', undefined, 'owner'],
  ['GET /events?since=1', undefined, 'since'],
])('a strict request is refused: %s', async (line, json, field) => {
  const refusal = expectRefusal(await call(service, line, { headers: strict, ...(json && { json }) }), 400);
  expect(refusal.details).toMatchObject({ field, reason: 'unknown_member', errors: [{ field }] });
});
