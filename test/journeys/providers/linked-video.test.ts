// A back end links an asset to an existing video of a hosted provider, without an upload (contract B4, B6).
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, type Started, VIDEO } from '../../support/media.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

let videos = 0;
const newVideo = () => `video-${++videos}`;

const link = (fields: object, headers: Record<string, string> = asService) =>
  call<Started>(service, 'POST /media/upload-url?expand=asset', {
    headers,
    json: { ...VIDEO, owner_user_id: 'ann', provider: 'cdnhost', ...fields },
  });

async function linked(fields: object): Promise<Started> {
  const answer: Answer<Started> = await link(fields);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data;
}

/** What cdnhost sends of a video, signed. */
async function reportOf(guid: string, status: number): Promise<Answer> {
  const body = JSON.stringify({ VideoLibraryId: 1, VideoGuid: guid, Status: status });
  const signature = createHmac('sha256', SECRETS.CDNHOST_STREAM_READ_ONLY_API_KEY).update(body).digest('hex');
  return call(service, 'POST /webhooks/stream/cdnhost', {
    headers: { 'x-cdnhost-signature': signature },
    body,
  });
}

test('has no upload, and complete does not require bytes', async () => {
  const guid = newVideo();
  const { asset_id: id, asset, upload, upload_url: url } = await linked({ provider_video_id: guid });
  expect({ upload, url }).toEqual({ upload: null, url: null });
  expect(asset).toMatchObject({
    provider: 'cdnhost',
    provider_video_id: guid,
    stream_status: 'pending_upload',
    owner_user_id: 'ann',
  });
  const completed = await call<AssetJson>(service, `POST /media/${id}/complete`, { headers: asUser('ann') });
  expect(expectSuccess(completed)).toMatchObject({ stream_status: 'processing', uploaded_at: null });
  const again = await call<AssetJson>(service, `POST /media/${id}/complete`, { headers: asUser('ann') });
  expect(again.body.data).toEqual(completed.body.data);
});

test('has no download', async () => {
  const { asset_id: id } = await linked({ provider_video_id: newVideo() });
  expect(
    expectRefusal(await call(service, `GET /media/${id}/download-url`, { headers: asUser('ann') }), 404)
      .details,
  ).toEqual({ reason: 'not_uploaded' });
});

test('an earlier report is applied when the video is linked', async () => {
  const guid = newVideo();
  expect((await reportOf(guid, 7)).body).toMatchObject({
    message: 'Webhook not processed: parked',
    data: { processed: false },
  });
  expect((await linked({ provider_video_id: guid })).asset.stream_status).toBe('processing');
});

describe('a video belongs to one asset', () => {
  test('linking it a second time is a conflict', async () => {
    const guid = newVideo();
    await linked({ provider_video_id: guid });
    const refused = expectRefusal(await link({ provider_video_id: guid, owner_user_id: 'bob' }), 409);
    expect(refused).toMatchObject({ error_code: 'CONFLICT', details: { field: 'provider_video_id' } });
  });

  test('the same id at another provider is another video', async () => {
    const guid = newVideo();
    await linked({ provider_video_id: guid });
    await linked({ provider_video_id: guid, provider: 'edgehost' });
  });

  test('one of several concurrent links succeeds', async () => {
    const guid = newVideo();
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await link({ provider_video_id: guid })).status),
    );
    expect(statuses.sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
  });

  test('it can be linked again after its asset is deleted', async () => {
    const guid = newVideo();
    const { asset_id: id } = await linked({ provider_video_id: guid });
    expectSuccess(
      await call(service, `DELETE /media/${id}`, { headers: asService, json: { owner_user_id: 'ann' } }),
    );
    expect((await linked({ provider_video_id: guid })).asset_id).not.toBe(id);
  });
});

describe('linking rejects', () => {
  test('a video without a hosted provider', async () => {
    for (const provider of [undefined, 'onprem'])
      expectFieldRefused(await link({ provider_video_id: newVideo(), provider }), 'provider');
  });

  test('an image', async () => {
    expectFieldRefused(
      await link({ provider_video_id: newVideo(), content_type: 'image', mime_type: 'image/png' }),
      'mime_type',
    );
  });

  test.each(['', ' ', 'x'.repeat(256), 'a\u0000', '\ud800', 7, {}, [], true])(
    '%j',
    async (provider_video_id) => {
      expectFieldRefused(await link({ provider_video_id }), 'provider_video_id');
    },
  );
});

test("a user's provider_video_id is ignored", async () => {
  const taken = newVideo();
  await linked({ provider_video_id: taken });
  for (const provider_video_id of [taken, '', 7, {}]) {
    const answer = await link({ provider_video_id, provider: 'onprem' }, asUser('ann'));
    expect(answer.body.data.asset['provider_video_id']).toBeNull();
    expect(answer.body.data.upload?.url).toBe(answer.body.data.upload_url);
  }
});
