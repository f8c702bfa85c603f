// Playback URLs of hosted videos follow the provider settings: a host name that is set or changed later
// applies to every asset (contract B5).
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal } from '../../support/http/envelope.ts';
import type { HostedName } from '../../support/providers/hosted.ts';
import { type AssetJson, readAsset } from '../../support/media.ts';
import { asOperator, asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { LIBRARY, linkVideo, PROCESSED, READY, tell } from '../../support/providers/webhooks.ts';

const HOSTS = { CDNHOST_STREAM_HOSTNAME: 'vz-1.example', EDGEHOST_CUSTOMER_SUBDOMAIN: 'customer-x.example' };
const GIVEN = { hls: 'https://other.example/%7Ea.m3u8?x', dash: 'https://other.example/a.mpd' };

let dataDir: string;
let service: TestService;
const start = async (settings: Record<string, string> = {}) => {
  service = await startTestService({ DATA_DIR: dataDir, MEDIARY_ROLE: 'api', ...settings });
};
const restart = async (settings: Record<string, string> = {}) => {
  await service.stop();
  await start(settings);
};

beforeAll(async () => {
  dataDir = await newDatabaseDir();
  await start();
  for (const { videoId, provider, body } of VIDEOS) {
    const linked = await linkVideo(service, { provider, provider_video_id: videoId, visibility: 'public' });
    ids.set(videoId, linked.asset_id);
    expect(await tell(service, provider, body)).toEqual(PROCESSED);
  }
});
afterAll(async () => {
  await service?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const VIDEOS: readonly { readonly videoId: string; readonly provider: HostedName; readonly body: object }[] =
  [
    { videoId: 'guid-1', provider: 'cdnhost', body: READY.cdnhost('guid-1') },
    { videoId: 'uid-1', provider: 'edgehost', body: READY.edgehost('uid-1') },
    { videoId: 'uid-given', provider: 'edgehost', body: { ...READY.edgehost('uid-given'), playback: GIVEN } },
  ];
const ids = new Map<string, string>();
const idOf = (videoId: string) => ids.get(videoId) ?? '';

type Urls = { hls: string | null; dash: string | null; thumbnail: string | null };
const NOTHING: Urls = { hls: null, dash: null, thumbnail: null };
const cdnhostUrls = (host: string): Urls => ({
  hls: `https://${host}/guid-1/playlist.m3u8`,
  dash: null,
  thumbnail: `https://${host}/guid-1/thumbnail.jpg`,
});
const edgehostUrls = (host: string, uid: string): Urls => ({
  hls: `https://${host}/${uid}/manifest/video.m3u8`,
  dash: `https://${host}/${uid}/manifest/video.mpd`,
  thumbnail: `https://${host}/${uid}/thumbnails/thumbnail.jpg`,
});

/** The asset as GET, the list and the operators' list show it. */
async function viewsOf(id: string): Promise<AssetJson[]> {
  const lists = await Promise.all([
    call<{ items: AssetJson[] }>(service, 'GET /media', { headers: asUser('ann') }),
    call<{ items: AssetJson[] }>(service, 'GET /admin/media', { headers: asOperator }),
  ]);
  const listed = lists.flatMap(({ body }) => body.data.items.filter((asset) => asset.id === id));
  return [await readAsset(service, 'ann', id), ...listed];
}

async function expectPlayback(videoId: string, urls: Urls, warnings: readonly string[] = []): Promise<void> {
  const id = idOf(videoId);
  const isPlayable = Object.values(urls).some((url) => url !== null);
  const views = await viewsOf(id);
  expect(views).toHaveLength(3);
  for (const view of views) {
    expect(view).toMatchObject({
      stream_status: 'ready',
      playback: isPlayable ? urls : null,
      playable_at: isPlayable ? expect.any(String) : null,
    });
    expect((view['warnings'] as { code: string }[]).map(({ code }) => code)).toEqual(warnings);
  }
  const playback = await call<Urls>(service, `GET /media/${id}/playback`, { headers: asUser('ann') });
  const page = `${service.url}/playback/${id}/embed`;
  const embed = urls.hls === null ? null : page;
  expect(playback.body.data).toMatchObject({ ...urls, expires_at: null, embed });
  expect((await fetch(page)).status).toBe(embed === null ? 404 : 200);
  for (const [file, url] of [
    ['hls.m3u8', urls.hls],
    ['dash.mpd', urls.dash],
    ['thumb.jpg', urls.thumbnail],
  ] as const)
    await expectRedirect(`${service.url}/playback/${id}/${file}`, url);
}

async function expectRedirect(path: string, url: string | null): Promise<void> {
  const { status, headers } = await fetch(path, { redirect: 'manual' });
  expect([status, headers.get('location')]).toEqual(url === null ? [404, null] : [302, url]);
  if (url !== null) expect(headers.get('cache-control')).toBe('no-store');
}

const etagOf = async (id: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.url}/media/${id}`, { headers: { ...asUser('ann'), ...headers } });
  return { status: response.status, etag: response.headers.get('etag') ?? '' };
};

describe('playback of hosted videos', () => {
  test('is null with a warning while the host name is missing, except for given URLs', async () => {
    await expectPlayback('guid-1', NOTHING, ['playback_unconfigured']);
    await expectPlayback('uid-1', NOTHING, ['playback_unconfigured']);
    await expectPlayback('uid-given', { ...NOTHING, ...GIVEN }, ['playback_unconfigured']);
  });

  test('appears without a warning once the host name is set, and changes the ETag', async () => {
    const before = await etagOf(idOf('guid-1'));
    await restart(HOSTS);
    await expectPlayback('guid-1', cdnhostUrls('vz-1.example'));
    await expectPlayback('uid-1', edgehostUrls('customer-x.example', 'uid-1'));
    await expectPlayback('uid-given', { ...edgehostUrls('customer-x.example', 'uid-given'), ...GIVEN });
    const after = await etagOf(idOf('guid-1'), { 'if-none-match': before.etag });
    expect(after.status).toBe(200);
    expect((await etagOf(idOf('guid-1'), { 'if-none-match': after.etag })).status).toBe(304);
  });

  test('follows a changed host name, but a given URL stays as it is', async () => {
    await restart({ CDNHOST_STREAM_HOSTNAME: 'cdn.example', EDGEHOST_CUSTOMER_SUBDOMAIN: 'edge.example' });
    await expectPlayback('guid-1', cdnhostUrls('cdn.example'));
    await expectPlayback('uid-1', edgehostUrls('edge.example', 'uid-1'));
    await expectPlayback('uid-given', { ...edgehostUrls('edge.example', 'uid-given'), ...GIVEN });
  });

  test('of a private video is signed with a key that is set later', async () => {
    await call(service, `PATCH /media/${idOf('guid-1')}`, {
      headers: asUser('ann'),
      json: { visibility: 'private' },
    });
    await restart({ ...HOSTS, CDNHOST_TOKEN_AUTH_KEY: 'zone-key' });
    const { body } = await call<Urls & { expires_at: string; embed: string }>(
      service,
      `GET /media/${idOf('guid-1')}/playback`,
      { headers: asUser('ann') },
    );
    const signed = /^https:\/\/vz-1\.example\/bcdn_token=.+\/guid-1\/playlist\.m3u8$/;
    expect(body.data.hls).toMatch(signed);
    const page = await fetch(body.data.embed);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('./hls.m3u8')]);
    const manifest = await fetch(new URL('./hls.m3u8', body.data.embed), { redirect: 'manual' });
    expect(manifest.headers.get('location')).toMatch(signed);
    expect(Date.parse(body.data.expires_at)).toBeGreaterThan(Date.now());
    expect((await readAsset(service, 'ann', idOf('guid-1'))).playback).toEqual(cdnhostUrls('vz-1.example'));
  });
});

test('the page of a private hosted video opens by the cookie too, and not without a credential', async () => {
  const { headers, body } = await call<{ embed: string }>(
    service,
    `GET /media/${idOf('guid-1')}/playback?access=cookie`,
    { headers: asUser('ann') },
  );
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  expect(body.data.embed).toBe(`${service.url}/playback/${idOf('guid-1')}/embed`);
  expect((await fetch(body.data.embed, { headers: { cookie } })).status).toBe(200);
  expect((await fetch(body.data.embed)).status).toBe(404);
});

test('a failed hosted video is retryable only while the API of its provider is configured', async () => {
  await restart(HOSTS);
  const { asset_id: id } = await linkVideo(service, { provider: 'cdnhost', provider_video_id: 'guid-2' });
  await tell(service, 'cdnhost', { VideoLibraryId: LIBRARY, VideoGuid: 'guid-2', Status: 5 });
  const failed = await readAsset(service, 'ann', id);
  expect(failed).toMatchObject({ stream_status: 'failed', failure: { retryable: false } });
  const retried = await call(service, `POST /media/${id}/retry?expand=asset`, { headers: asUser('ann') });
  expect(expectRefusal(retried, 409).details).toEqual({ reason: 'provider_cannot_retry', retryable: false });

  await restart({
    ...HOSTS,
    CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY),
    CDNHOST_STREAM_API_KEY: 'library-key',
  });
  expect(await readAsset(service, 'ann', id)).toMatchObject({ failure: { retryable: true } });
});
