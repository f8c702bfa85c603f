// Effects of a report on playback, on the asset as its owner sees it, and on the record (contract B5, B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openUpload, readAsset } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';
import {
  deliveriesOf,
  linkVideo,
  notProcessed,
  PROCESSED,
  READY,
  tell,
} from '../../support/providers/webhooks.ts';

let service: TestService;
let hostless: TestService;
beforeAll(async () => {
  service = await startTestService({
    MEDIARY_ROLE: 'api',
    CDNHOST_STREAM_HOSTNAME: 'vz-1.example',
    EDGEHOST_CUSTOMER_SUBDOMAIN: 'customer-x.example',
  });
  hostless = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => Promise.all([service?.stop(), hostless?.stop()]));

type Urls = { hls: string | null; dash: string | null; thumbnail: string | null };
const NOTHING: Urls = { hls: null, dash: null, thumbnail: null };
const playbackOf = async (of: TestService, id: string) =>
  (await call<Urls>(of, `GET /media/${id}/playback`, { headers: asUser('ann') })).body.data;
const play = (id: string, file: string) =>
  fetch(`${service.url}/playback/${id}/${file}`, { redirect: 'manual' });
const codes = (asset: { [member: string]: unknown }) =>
  (asset['warnings'] as { code: string }[]).map(({ code }) => code);

async function hosted(provider: 'cdnhost' | 'edgehost', { visibility = 'public', on = service } = {}) {
  const videoId = randomUUID();
  const { asset_id: id } = await linkVideo(on, { provider, provider_video_id: videoId, visibility });
  return { id, videoId, say: (body: object = READY[provider](videoId)) => tell(on, provider, body) };
}

describe('a video that is at a hosted provider', () => {
  test.each([
    [
      'cdnhost',
      (id: string) => ({
        hls: `https://vz-1.example/${id}/playlist.m3u8`,
        dash: null,
        thumbnail: `https://vz-1.example/${id}/thumbnail.jpg`,
      }),
    ],
    [
      'edgehost',
      (id: string) => {
        const base = `https://customer-x.example/${id}`;
        return {
          hls: `${base}/manifest/video.m3u8`,
          dash: `${base}/manifest/video.mpd`,
          thumbnail: `${base}/thumbnails/thumbnail.jpg`,
        };
      },
    ],
  ] as const)("at %s plays from that provider's host when it is ready", async (provider, expected) => {
    const { id, videoId, say } = await hosted(provider);
    expect(await playbackOf(service, id)).toMatchObject({ stream_status: 'pending_upload', ...NOTHING });
    expect((await play(id, 'hls.m3u8')).status).toBe(404);
    expect(await say()).toEqual(PROCESSED);
    const urls = expected(videoId);
    expect(await readAsset(service, 'ann', id)).toMatchObject({
      stream_status: 'ready',
      progress: 100,
      playback: urls,
      warnings: [],
      failure: null,
      playable_at: expect.any(String),
      ready_at: expect.any(String),
    });
    expect(await playbackOf(service, id)).toMatchObject({
      stream_status: 'ready',
      ...urls,
      mp4: null,
      storyboard: null,
      encryption: null,
      expires_at: null,
    });
    await expectRedirects(id, urls);
  });

  test("plays the URLs of edgehost's report, unchanged", async () => {
    const { id, videoId, say } = await hosted('edgehost');
    const urls = {
      hls: 'https://other.example/%7Ea/../b.m3u8?c=%20',
      dash: 'http://other.example:8080/a.mpd#x',
      thumbnail: 'https://other.example/t.jpg',
    };
    await say({
      ...READY.edgehost(videoId),
      playback: { hls: urls.hls, dash: urls.dash },
      thumbnail: urls.thumbnail,
    });
    expect(await playbackOf(service, id)).toMatchObject(urls);
    await expectRedirects(id, urls);
  });

  test.each(['cdnhost', 'edgehost'] as const)(
    'at %s is ready with a warning and without URLs if the host is not configured',
    async (provider) => {
      const { id, say } = await hosted(provider, { on: hostless });
      expect(await say()).toEqual(PROCESSED);
      const asset = await readAsset(hostless, 'ann', id);
      expect(asset).toMatchObject({ stream_status: 'ready', playback: null, playable_at: null });
      expect(codes(asset)).toEqual(['playback_unconfigured']);
      expect(await playbackOf(hostless, id)).toMatchObject({ stream_status: 'ready', ...NOTHING });
    },
  );

  test('that is private is 404 on the public paths', async () => {
    const { id, say } = await hosted('cdnhost', { visibility: 'private' });
    await say();
    for (const file of ['hls.m3u8', 'dash.mpd', 'thumb.jpg']) expect((await play(id, file)).status).toBe(404);
    for (const path of ['hls.m3u8?token=x', '~x/hls.m3u8']) expect((await play(id, path)).status).toBe(401);
  });

  test('does not change a deleted asset, but the next asset that is linked to it', async () => {
    const { id, videoId, say } = await hosted('edgehost');
    expect((await call(service, `DELETE /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
    expect(await say()).toEqual(notProcessed('deleted_asset'));
    const { asset_id: next } = await linkVideo(service, { provider: 'edgehost', provider_video_id: videoId });
    expect(await say()).toEqual(PROCESSED);
    expect((await readAsset(service, 'ann', next)).stream_status).toBe('ready');
    expect((await deliveriesOf(service, id)).map(({ reason }) => reason)).toEqual(['deleted_asset']);
  });
});

describe("a video of an operator's own encoder", () => {
  const BAD = [
    'javascript:alert(1)',
    '//v.example/a',
    'https://u:p@v.example/',
    'https://@v.example/',
    'https://v.example/\ud800',
    'https://v.example/\r\nX: y',
    `https://v.example/${'a'.repeat(2048)}`,
  ];

  test('plays the URLs of its report, unchanged', async () => {
    const { asset_id: id } = await openUpload(service, 'ann', { visibility: 'public' });
    const urls = {
      hls: 'HTTPS://V.example/%7Ea/../b.m3u8?c=%20',
      dash: 'http://v.example:8080/a.mpd#x',
      thumbnail: 'https://v.example/ü/動.jpg',
    };
    expect(await tell(service, 'onprem', { asset_id: id, status: 'ready', playback: urls })).toEqual(
      PROCESSED,
    );
    expect((await readAsset(service, 'ann', id))['playback']).toEqual(urls);
    expect(await playbackOf(service, id)).toMatchObject(urls);
    await expectRedirects(id, { ...urls, thumbnail: 'https://v.example/%C3%BC/%E5%8B%95.jpg' });
  });

  test('is ready without an invalid URL, and with one warning', async () => {
    for (const bad of BAD) {
      const { asset_id: id } = await openUpload(service, 'ann');
      const playback = { hls: 'https://v.example/a.m3u8', dash: bad, thumbnail: bad };
      expect(await tell(service, 'onprem', { asset_id: id, status: 'ready', playback })).toEqual(PROCESSED);
      const asset = await readAsset(service, 'ann', id);
      expect(asset).toMatchObject({
        stream_status: 'ready',
        playback: { hls: 'https://v.example/a.m3u8', dash: null, thumbnail: null },
      });
      expect(codes(asset)).toEqual(['playback_url_refused']);
    }
  });

  test('ignores the URLs of a failure', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    await tell(service, 'onprem', {
      asset_id: id,
      status: 'failed',
      playback: { hls: 'https://v.example/a.m3u8' },
      failure: { code: 'no_sound', message: 'No sound', retryable: false },
    });
    expect(await readAsset(service, 'ann', id)).toMatchObject({
      stream_status: 'failed',
      playback: null,
      failure: { code: 'no_sound', message: 'No sound', retryable: false },
    });
  });
});

async function expectRedirects(id: string, urls: Urls): Promise<void> {
  for (const [file, url] of [
    ['hls.m3u8', urls.hls],
    ['dash.mpd', urls.dash],
    ['thumb.jpg', urls.thumbnail],
  ] as const) {
    const { status, headers } = await play(id, file);
    expect([file, status, headers.get('location'), headers.get('cache-control')]).toEqual(
      url === null ? [file, 404, null, headers.get('cache-control')] : [file, 302, url, 'no-store'],
    );
  }
}
