// A change of visibility takes effect at once in the service, and within an hour in shared caches.
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, IMAGE, ingest, offer, settled } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

type PlaybackUrls = { image: string; thumbnail: string };

let service: TestService;
const assets: Partial<Record<'image' | 'video', AssetJson>> = {};

beforeAll(async () => {
  service = await startTestService();
  const bytes = await sharp({ create: { width: 800, height: 600, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const fields = { visibility: 'public' };
  const { id } = await offer(service, 'ann', { bytes, fields: { ...IMAGE, ...fields } });
  [assets.image, assets.video] = await Promise.all([
    settled(service, 'ann', id),
    ingest(service, 'ann', { file: await makeClip({ seconds: 1 }), fields }),
  ]);
});
afterAll(() => service.stop());

const urlsOf = async ({ id }: AssetJson): Promise<PlaybackUrls> =>
  (await call<PlaybackUrls>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body.data;
const setVisibility = ({ id }: AssetJson, visibility: string) =>
  call(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { visibility } });

/** Seconds for which a shared cache may answer by itself. */
function sharedSeconds(header: string | null): number {
  if (header?.startsWith('private')) return 0;
  const [, shared] = /s-maxage=(\d+)/.exec(header ?? '') ?? [];
  return Number(shared ?? /max-age=(\d+)/.exec(header ?? '')?.[1]);
}

describe.each(['image', 'video'] as const)('of %s', (kind) => {
  const asset = (): AssetJson => assets[kind] as AssetJson;
  const addresses = ({ image, thumbnail }: PlaybackUrls) => [`${image}&w=64`, thumbnail];
  const statusesOf = (urls: readonly string[]) =>
    Promise.all(urls.map(async (url) => (await fetch(url)).status));

  test('the URLs of the earlier visibility end at once with each change', async () => {
    const whilePublic = addresses(await urlsOf(asset()));
    const etags = await Promise.all(
      whilePublic.map(async (url) => (await fetch(url)).headers.get('etag') ?? ''),
    );
    await setVisibility(asset(), 'private');
    expect(await statusesOf(whilePublic)).toEqual([404, 404]);
    for (const [index, url] of whilePublic.entries())
      expect((await fetch(url, { headers: { 'if-none-match': etags[index] ?? '' } })).status).toBe(404);

    const whilePrivate = addresses(await urlsOf(asset()));
    expect(await statusesOf(whilePrivate)).toEqual([200, 200]);
    await setVisibility(asset(), 'public');
    expect(await statusesOf(whilePublic)).toEqual([200, 200]);
    await setVisibility(asset(), 'private');
    expect(await statusesOf(whilePrivate)).toEqual([401, 401]);
    expect(await statusesOf(addresses(await urlsOf(asset())))).toEqual([200, 200]);
    await setVisibility(asset(), 'public');
  });

  test('the image has another URL after each change', async () => {
    const versionOf = async () => new URL((await urlsOf(asset())).image).searchParams.get('v');
    const versions = [await versionOf()];
    for (const visibility of ['private', 'public']) {
      await setVisibility(asset(), visibility);
      versions.push(await versionOf());
    }
    expect(new Set(versions).size).toBe(3);
  });

  test('shared caches store public images for an hour at most, and private ones never', async () => {
    const cachingOf = async () =>
      Promise.all(
        addresses(await urlsOf(asset())).map(async (url) => (await fetch(url)).headers.get('cache-control')),
      );
    for (const header of await cachingOf()) {
      expect(header).toMatch(/^public, max-age=\d+$/);
      expect(sharedSeconds(header)).toBeLessThanOrEqual(3600);
    }
    await setVisibility(asset(), 'private');
    for (const header of await cachingOf()) expect(header).toMatch(/^private, max-age=\d{1,3}$/);
    await setVisibility(asset(), 'public');
  });
});

test('shared caches store segments of a public video for an hour at most', async () => {
  const { id } = assets.video as AssetJson;
  const playlist = await (await fetch(`${service.url}/playback/${id}/hls.m3u8`)).text();
  const child = playlist.split('\n').find((line) => line && !line.startsWith('#')) ?? '';
  const header = (await fetch(`${service.url}/playback/${id}/${child}`)).headers.get('cache-control');
  expect(sharedSeconds(header)).toBe(3600);
  expect(header).toContain('immutable');
});
