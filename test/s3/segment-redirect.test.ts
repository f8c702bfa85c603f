// With SEGMENT_DELIVERY=redirect the store itself serves segments; the service serves manifests and checks
// tokens.
import { PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, openBrowser } from '../support/playback/browser.ts';
import { makeClip } from '../support/clips/clips.ts';
import { type AssetJson, ingest } from '../support/media.ts';
import { CLEAN, decode, playlistsOf } from '../support/clips/picture-and-sound.ts';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';
import { asUser, call, startTestService, type TestService } from '../support/service.ts';

const CORS = {
  AllowedOrigins: ['*'],
  AllowedMethods: ['GET', 'HEAD'],
  AllowedHeaders: ['*'],
  ExposeHeaders: ['Content-Length', 'Content-Range', 'ETag'],
};
const HOUR = 3_600_000;

describeS3('a service that redirects players to its S3 store', () => {
  let bucket: TestBucket;
  let service: TestService;
  let hidden: AssetJson;
  let ahead = 0;
  beforeAll(async () => {
    bucket = await createBucket({ parameters: '&prefix=media' });
    await bucket.client.send(
      new PutBucketCorsCommand({
        Bucket: bucket.location.bucket,
        CORSConfiguration: { CORSRules: [CORS] },
      }),
    );
    service = await startTestService(
      { STORAGE_URL: bucket.url, SEGMENT_DELIVERY: 'redirect' },
      { now: () => new Date(Date.now() + ahead) },
    );
    hidden = await ingest(service, 'ann', { file: await makeClip({ seconds: 5, container: 'mp4' }) });
  });
  afterAll(() => service?.stop());

  const urlsOf = async ({ id }: AssetJson) =>
    (
      await call<{ hls: string; dash: string }>(service, `GET /media/${id}/playback`, {
        headers: asUser('ann'),
      })
    ).body.data;
  const get = (url: string, init: RequestInit = {}) => fetch(url, { redirect: 'manual', ...init });

  async function firstSegment(): Promise<{ playlist: string; segment: string }> {
    const { pictures } = await playlistsOf((await urlsOf(hidden)).hls);
    const playlist = pictures[0] ?? '';
    const name = /^[^#\s].*\.m4s$/m.exec(await (await get(playlist)).text())?.[0] ?? '';
    return { playlist, segment: new URL(name, playlist).href };
  }

  test('a private video plays by its manifests, and its segments come from the store', async () => {
    const { hls, dash } = await urlsOf(hidden);
    for (const url of [hls, dash]) expect(await decode(url), url).toEqual(CLEAN);
    const { playlist, segment } = await firstSegment();
    expect((await get(playlist)).status).toBe(200);
    const redirect = await get(segment);
    expect(redirect.status).toBe(302);
    expect(redirect.headers.get('cache-control')).toMatch(/^private, max-age=(?:29\d|300)$/);
    expect(redirect.headers.get('access-control-allow-origin')).toBe('*');
    const location = new URL(redirect.headers.get('location') ?? '');
    expect([location.origin, location.searchParams.get('X-Amz-Expires')]).toEqual([
      bucket.location.endpoint,
      '600',
    ]);
    const part = await fetch(segment, { headers: { range: 'bytes=4-7', origin: 'https://app.example' } });
    expect([part.status, await part.text()]).toEqual([206, 'styp']);
    expect(part.headers.get('content-type')).toBe('video/iso.segment');
    expect(part.headers.get('access-control-allow-origin')).toBe('*');
    const head = await get(segment, { method: 'HEAD' });
    expect([head.status, Number(head.headers.get('content-length')) > 0]).toEqual([200, true]);
  });

  test('a segment is not redirected without a valid token, and never after a deletion', async () => {
    const { segment } = await firstSegment();
    expect((await get(segment.replace(/\/~[^/]+/, ''))).status).toBe(404);
    expect((await get(segment.replace(/\/~[^/]+/, '/~wrong'))).status).toBe(401);
    ahead = 7 * HOUR;
    expect((await get(segment)).status).toBe(401);
    ahead = 0;
    const doomed = await ingest(service, 'ann', { file: await makeClip({ seconds: 1 }) });
    const { hls } = await urlsOf(doomed);
    const { pictures } = await playlistsOf(hls);
    const init = (pictures[0] ?? '').replace('.m3u8', '-init.mp4');
    expect((await get(init)).status).toBe(302);
    await call(service, `DELETE /media/${doomed.id}`, { headers: asUser('ann') });
    expect((await get(init)).status).toBe(404);
  });

  describe.skipIf(findChromium() === undefined)('in Chromium, on a page of a third origin', () => {
    test('stock players play it to its end and seek', async () => {
      const browser = await openBrowser();
      try {
        const { hls, dash } = await urlsOf(hidden);
        const played = await Promise.all([
          browser.playThrough({ player: 'hls.js', url: hls }),
          browser.playThrough({ player: 'dash.js', url: dash }),
          browser.playThrough({ player: 'shaka-player', url: dash }),
        ]);
        for (const { errors, duration, endedAt } of played) {
          expect(errors).toEqual([]);
          expect(duration).toBeGreaterThan(4.9);
          expect(duration - endedAt).toBeLessThan(0.1);
        }
      } finally {
        await browser.close();
      }
    });
  });
});
