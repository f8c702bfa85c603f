// Tests the client of the edgehost API with the contract of hosted APIs.
import { describe, expect, test } from 'vitest';
import {
  DOWNLOADS,
  FORM,
  NOW,
  PEM,
  result,
  UID,
  useEdgehostApi,
} from '../../../../test/support/providers/edgehost-api.ts';
import { collect, hostedApiContract, ORDER } from '../hosted-api.contract.ts';

describe('the API of edgehost', () => {
  const { peer, apiWith, lastBody } = useEdgehostApi();
  const VIDEO = {
    uid: UID,
    created: '2026-01-01T10:00:00.000000Z',
    meta: { name: 'clip.mp4', mediary_asset_id: ORDER.assetId },
    status: { state: 'ready', pctComplete: '100.000000' },
  };

  hostedApiContract({
    open: (limits) => apiWith({}, limits),
    peer,
    commands: {
      remove: (videoId) => ({ method: 'DELETE', path: `/${videoId}` }),
      protect: (videoId) => ({ method: 'POST', path: `/${videoId}`, body: { requireSignedURLs: true } }),
    },
    base: '/v4/accounts/account-1/stream',
    secrets: ['api-token', PEM.slice(100, 200)],
    answers: {
      prepareUpload: result(FORM),
      inspect: result(VIDEO),
      remove: { body: '' },
      protect: result(VIDEO),
      createDownloadUrl: result(DOWNLOADS),
      list: result([VIDEO]),
      registerWebhook: result({ notificationUrl: 'x', secret: 'new-secret' }),
    },
  });

  test('creates a form upload for a small file, with asset id and protection', async () => {
    peer().answerWith(result(FORM));
    expect(await apiWith({}).prepareUpload({ ...ORDER, videoId: 'earlier', expires: NOW + 3600 })).toEqual({
      videoId: UID,
      target: {
        protocol: 'form',
        method: 'POST',
        url: FORM.uploadURL,
        headers: {},
        fields: {},
        expires_at: '2023-11-14T23:13:20.000Z',
        max_bytes: 1000,
      },
    });
    expect(peer().requests.at(-1)).toMatchObject({
      method: 'POST',
      path: '/v4/accounts/account-1/stream/direct_upload',
      headers: { authorization: 'Bearer api-token' },
    });
    expect(lastBody()).toEqual({
      maxDurationSeconds: 3600,
      expiry: '2023-11-14T23:13:20.000Z',
      creator: 'mediary',
      meta: { name: 'clip.mp4', mediary_asset_id: ORDER.assetId },
      requireSignedURLs: true,
    });
    await apiWith({ EDGEHOST_SIGNING_KEY_ID: undefined }).prepareUpload(ORDER);
    expect(lastBody()).toMatchObject({ requireSignedURLs: false });
  });

  test('creates a tus upload for a large file', async () => {
    peer().answerWith({ status: 201, headers: { location: '/tus/1?x', 'stream-media-id': UID }, body: '' });
    expect(
      await apiWith({}).prepareUpload({
        ...ORDER,
        filename: 'ü.mp4',
        size: 300_000_000,
        expires: NOW + 3600,
      }),
    ).toEqual({
      videoId: UID,
      target: {
        protocol: 'tus',
        method: 'PATCH',
        url: `${peer().url}/tus/1?x`,
        headers: {},
        fields: {},
        chunk_size_bytes: 52_428_800,
        chunk_size_multiple_bytes: 262_144,
        chunk_size_min_bytes: 5_242_880,
        chunk_size_max_bytes: 209_715_200,
        expires_at: '2023-11-14T23:13:20.000Z',
        max_bytes: 300_000_000,
      },
    });
    expect(peer().requests.at(-1)).toMatchObject({
      method: 'POST',
      path: '/v4/accounts/account-1/stream?direct_user=true',
      headers: {
        'tus-resumable': '1.0.0',
        'upload-length': '300000000',
        'upload-creator': 'mediary',
        'upload-metadata': expect.stringMatching(
          new RegExp(
            '^name w7wubXA0,filetype dmlkZW8vbXA0,maxDurationSeconds MzYwMA==,' +
              'expiry \\S+,mediary_asset_id \\S+,requiresignedurls$',
          ),
        ),
      },
    });
  });

  test('creates a tus upload of any length for the relay', async () => {
    peer().answerWith({ status: 201, headers: { location: '/tus/1', 'stream-media-id': UID }, body: '' });
    const { tusRelay } = apiWith({});
    expect(await tusRelay?.create({ ...ORDER, size: 1000, expires: NOW + 3600 })).toMatchObject({
      videoId: UID,
      target: { protocol: 'tus', url: `${peer().url}/tus/1`, ...tusRelay?.chunks },
    });
    expect(peer().requests.at(-1)?.headers).toMatchObject({ 'upload-length': '1000' });
  });

  test('rejects a tus upload without a video id or a usable URL', async () => {
    for (const headers of [
      { location: '/tus/1' },
      { 'stream-media-id': UID },
      { location: 'http://[', 'stream-media-id': UID },
      { location: 'javascript:alert(1)', 'stream-media-id': UID },
    ]) {
      peer().answerWith({ status: 201, headers, body: '' });
      await expect(apiWith({}).prepareUpload({ ...ORDER, size: 300_000_000 })).rejects.toMatchObject({
        failure: { code: 'provider_error' },
      });
    }
  });

  test('protects single videos, also without the signing key that players need', async () => {
    peer().answerWith(result(VIDEO));
    await apiWith({ EDGEHOST_SIGNING_KEY_PEM: undefined }).protect?.(UID, true);
    expect([peer().requests.at(-1)?.path, lastBody()]).toEqual([
      `/v4/accounts/account-1/stream/${UID}`,
      { requireSignedURLs: true },
    ]);
  });

  test.each(['lt', 'lte'])(
    'lists page by page to the end, whether a page begins at or before a time (%s)',
    async (comparison) => {
      const all = Array.from({ length: 25 }, (_, index) => ({
        ...VIDEO,
        uid: `video-${index}`,
        created: new Date(NOW * 1000 - index * 1000).toISOString(),
        meta: index % 2 ? null : VIDEO.meta,
      }));
      peer().answerWith(({ path }) => {
        const { creator, before = '9' } = Object.fromEntries(new URL(path, peer().url).searchParams) as {
          creator?: string;
          before?: string;
        };
        return result(
          creator === 'mediary'
            ? all
                .filter(({ created }) => created < before || (comparison === 'lte' && created === before))
                .slice(0, 10)
            : [],
        );
      });
      const listed = await collect(apiWith({}).list());
      expect(listed.map(({ videoId }) => videoId)).toEqual(all.map(({ uid }) => uid));
      expect(listed.slice(0, 2).map(({ assetId }) => assetId)).toEqual([ORDER.assetId, undefined]);
    },
  );

  test('registers the webhook URL, and returns the new secret', async () => {
    peer().answerWith(result({ secret: 'new-secret' }));
    expect(await apiWith({}).registerWebhook?.('https://media.example/hook')).toEqual({
      secret: 'new-secret',
      setting: 'EDGEHOST_STREAM_WEBHOOK_SECRET',
    });
    expect([peer().requests.at(-1)?.method, peer().requests.at(-1)?.path, lastBody()]).toEqual([
      'PUT',
      '/v4/accounts/account-1/stream/webhook',
      { notificationUrl: 'https://media.example/hook' },
    ]);
  });
});
