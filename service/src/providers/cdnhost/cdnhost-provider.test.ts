// Tests cdnhost with the provider contract and the contract of hosted APIs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScriptedPeer, startPeer } from '../../../../test/support/http/scripted-peer.ts';
import { toSecret } from '../../auth/secret.ts';
import { createSettings } from '../../platform/settings/read-settings.ts';
import { collect, hostedApiContract, ORDER } from '../hosted-api.contract.ts';
import type { HostedApi } from '../provider.ts';
import { providerContract } from '../provider.contract.ts';
import { openCdnhost, readCdnhostSettings } from './cdnhost-provider.ts';
import { signCdnhost } from './cdnhost-signatures.ts';

const GUID = '11112222-3333-4444-8555-666677778888';
const SET = {
  CDNHOST_STREAM_LIBRARY_ID: '4242',
  CDNHOST_STREAM_API_KEY: 'library-key',
  CDNHOST_STREAM_HOSTNAME: 'vz-1.example',
  CDNHOST_TOKEN_AUTH_KEY: 'zone-key',
  CDNHOST_STREAM_READ_ONLY_API_KEY: 'cdnhost-read-only-key',
};
const opened = (
  environment: Record<string, string | undefined>,
  limits?: Parameters<typeof openCdnhost>[1],
) => openCdnhost(readCdnhostSettings(createSettings(environment)), limits);
const webhook = (Status: number) => JSON.stringify({ VideoLibraryId: 4242, VideoGuid: GUID, Status });

describe('cdnhost', () => {
  providerContract({
    configured: opened(SET),
    bare: opened({}),
    signed(text) {
      const body = Buffer.from(text);
      return {
        headers: (name) =>
          name === 'x-cdnhost-signature' ? [signCdnhost(body, toSecret('cdnhost-read-only-key'))] : [],
        body,
        now: new Date(),
      };
    },
    samples: [
      [webhook(3), { report: { event: 'succeeded', complete: true } }],
      [webhook(4), { report: { event: 'succeeded', complete: false } }],
      [webhook(7), { report: { event: 'started' } }],
      [webhook(5), { report: { event: 'failed' } }],
      [webhook(2), { reason: 'not_actionable' }],
      [webhook(3).replace('4242', '1'), { reason: 'wrong_library' }],
    ],
  });

  test('has an API once library and key are configured', () => {
    for (const name of ['CDNHOST_STREAM_LIBRARY_ID', 'CDNHOST_STREAM_API_KEY']) {
      const { api, capabilities } = opened({ ...SET, [name]: undefined });
      expect([api, capabilities.uploads, capabilities.missingSettings]).toEqual([undefined, false, [name]]);
    }
  });

  test.each(['not a host', 'a@b', 'vz-1.example?x', 'https://'])('rejects the host name %j', (host) => {
    const settings = createSettings({ CDNHOST_STREAM_HOSTNAME: host });
    readCdnhostSettings(settings);
    expect(settings.problems).toEqual([expect.stringContaining('CDNHOST_STREAM_HOSTNAME')]);
  });
});

describe('the API of cdnhost', () => {
  let peer: ScriptedPeer;
  beforeAll(async () => {
    peer = await startPeer();
  });
  afterAll(() => peer.stop());
  const api = (limits?: Parameters<typeof openCdnhost>[1], more = {}) =>
    opened({ ...SET, ...more, CDNHOST_API_URL: peer.url }, limits).api as HostedApi;
  const VIDEO = {
    guid: GUID,
    title: `clip.mp4 [mediary:${ORDER.assetId}]`,
    dateUploaded: '2026-01-01T10:00:00.5',
    status: 4,
    availableResolutions: '240p,720p',
    hasMP4Fallback: true,
    hasOriginal: true,
    length: 12,
    width: 1280,
    height: 720,
  };
  const LIST = { items: [VIDEO], totalItems: 1 };

  hostedApiContract({
    open: api,
    peer: () => peer,
    commands: {
      remove: (videoId) => ({ method: 'DELETE', path: `/${videoId}` }),
      restart: (videoId) => ({ method: 'POST', path: `/${videoId}/reencode` }),
    },
    base: '/library/4242/videos',
    secrets: ['library-key', 'zone-key'],
    answers: {
      prepareUpload: { body: VIDEO },
      inspect: { body: VIDEO },
      remove: {},
      restart: { body: VIDEO },
      createDownloadUrl: { body: VIDEO },
      list: { body: LIST },
    },
  });

  test('creates a video with its asset id in the title, and a tus upload', async () => {
    peer.answerWith({ body: VIDEO });
    const expires = 1_700_003_600;
    const { videoId, target } = await api().prepareUpload({ ...ORDER, expires });
    expect(peer.requests.at(-1)).toMatchObject({
      method: 'POST',
      path: '/library/4242/videos',
      headers: { accesskey: 'library-key' },
      body: JSON.stringify({ title: VIDEO.title }),
    });
    expect([videoId, target]).toEqual([
      GUID,
      {
        protocol: 'tus',
        method: 'POST',
        url: `${peer.url}/tusupload`,
        expires_at: '2023-11-14T23:13:20.000Z',
        max_bytes: 1000,
        fields: { filetype: 'video/mp4', title: VIDEO.title },
        chunk_size_bytes: 52_428_800,
        headers: {
          AuthorizationSignature: '635c85d0726128900db3eb24f0df4d0801758e7d693d6355737448e6c1e6fa57',
          AuthorizationExpire: '1700003600',
          VideoId: GUID,
          LibraryId: '4242',
        },
      },
    ]);
  });

  test('reuses the video of an earlier attempt without a request', async () => {
    const before = peer.requests.length;
    const { videoId, target } = await api().prepareUpload({ ...ORDER, videoId: 'earlier', size: null });
    expect([videoId, target.headers['VideoId'], target.max_bytes, peer.requests.length - before]).toEqual([
      'earlier',
      'earlier',
      ORDER.maxBytes,
      0,
    ]);
  });

  test('returns the original or the best file, signed if the host requires tokens', async () => {
    const download = (video: object, more = {}) => {
      peer.answerWith({ body: { ...VIDEO, ...video } });
      return api(undefined, more).createDownloadUrl({ videoId: GUID, filename: 'x', expires: 1_700_003_600 });
    };
    const plain = { CDNHOST_TOKEN_AUTH_KEY: undefined };
    const ready = (url: string) => ({ state: 'ready', url });
    expect(await download({})).toEqual(
      ready(
        'https://vz-1.example/bcdn_token=HS256-9ps7i7pnr2CWwDCxQi1euMyedoFbaZbxNK3zSBEzfRk' +
          `&token_path=%2F${GUID}%2F&expires=1700003600/${GUID}/original`,
      ),
    );
    expect(await download({}, plain)).toEqual(ready(`https://vz-1.example/${GUID}/original`));
    expect(await download({ hasOriginal: false }, plain)).toEqual(
      ready(`https://vz-1.example/${GUID}/play_720p.mp4`),
    );
    expect(await download({ hasOriginal: false, hasMP4Fallback: false }, plain)).toBeUndefined();
    expect(await download({}, { ...plain, CDNHOST_STREAM_HOSTNAME: undefined })).toBeUndefined();
  });

  test('lists all pages and identifies the videos of this service', async () => {
    const all = Array.from({ length: 250 }, (_, index) => ({
      ...VIDEO,
      guid: `video-${index}`,
      title: index % 2 ? 'Another video' : VIDEO.title,
    }));
    peer.answerWith(({ path }) => {
      const page = Number(new URL(path, peer.url).searchParams.get('page'));
      return { body: { items: all.slice((page - 1) * 100, page * 100), totalItems: 250 } };
    });
    const listed = await collect(api().list());
    expect(listed.map(({ videoId }) => videoId)).toEqual(all.map(({ guid }) => guid));
    expect(listed.slice(0, 2).map(({ assetId }) => assetId)).toEqual([ORDER.assetId, undefined]);
    expect(listed[0]?.createdAt).toEqual(new Date('2026-01-01T10:00:00.500Z'));
  });
});
