// Tests which requests are redirected to the object store, and for how long the redirect may be used.
import { describe, expect, test } from 'vitest';
import type { ObjectKey } from '../storage/object-key.ts';
import type { DirectUploads } from '../storage/object-store.ts';
import { findInternalRedirect, redirectToStore } from './segment-redirect.ts';

const now = new Date('2026-01-01T00:00:00Z');
const key = 'renditions/a/1-1/r0-00001.m4s' as ObjectKey;

/** A store whose credentials end after some seconds. */
function storeUntil(seconds: number) {
  const asked: unknown[] = [];
  const presignGet: DirectUploads['presignGet'] = async (get) => {
    asked.push(get);
    const expiresAt = new Date(now.getTime() + Math.min(get.expiresInSeconds, seconds) * 1000);
    return { method: 'GET', url: 'https://s3.example.com/signed', headers: {}, expiresAt };
  };
  return { asked, store: { direct: { presignGet } as DirectUploads } };
}

const redirect = (file: { path?: string; method?: string } = {}, seconds = 3600) =>
  redirectToStore(
    { ...storeUntil(seconds), segmentDelivery: 'redirect', now: () => now },
    { key, path: '1-1/r0-00001.m4s', method: 'GET', ...file },
  );

test('a segment is redirected, for less time than its URL is valid', async () => {
  for (const path of ['1-1/r0-00001.m4s', '1-1/r0-init.mp4'])
    expect(await redirect({ path })).toEqual({
      url: 'https://s3.example.com/signed',
      headers: { 'cache-control': 'private, max-age=300' },
    });
  for (const [seconds, age] of [
    [100, 50],
    [-5, 0],
  ] as const)
    expect((await redirect({}, seconds))?.headers).toEqual({ 'cache-control': `private, max-age=${age}` });
});

test('the store is asked for ten minutes, the type of the file and private caching', async () => {
  const { store, asked } = storeUntil(3600);
  await redirectToStore(
    { store, segmentDelivery: 'redirect', now: () => now },
    { key, path: '1-1/r0-init.mp4', method: 'GET' },
  );
  expect(asked).toEqual([
    {
      key,
      responseContentType: 'video/mp4',
      responseCacheControl: 'private, max-age=600, immutable',
      expiresInSeconds: 600,
    },
  ]);
});

test('manifests, pictures and HEAD are served by the service', async () => {
  for (const path of ['hls.m3u8', 'dash.mpd', '1-1/r0.m3u8', 'thumb.jpg', '1-1/thumb.jpg'])
    expect(await redirect({ path }), path).toBeUndefined();
  expect(await redirect({ method: 'HEAD' })).toBeUndefined();
});

test('so is everything without the setting, and without a store that clients reach', async () => {
  const { store, asked } = storeUntil(3600);
  const file = { key, path: '1-1/r0-00001.m4s', method: 'GET' };
  expect(await redirectToStore({ store, segmentDelivery: 'service', now: () => now }, file)).toBeUndefined();
  expect(
    await redirectToStore({ store: {}, segmentDelivery: 'redirect', now: () => now }, file),
  ).toBeUndefined();
  expect(asked).toEqual([]);
});

describe('the web server sends a segment', () => {
  const internal = (needs: object = {}, file: object = {}) =>
    findInternalRedirect(
      {
        store: { localFile: () => '/srv/media/objects/ab/renditions/a/1-1/r0-00001.m4s' },
        segmentDelivery: 'x-accel-redirect',
        storeFolder: '/srv/media',
        accelPrefix: '/_mediary/',
        ...needs,
      },
      {
        key,
        path: '1-1/r0-00001.m4s',
        isByCookie: false,
        addresses: () => ['127.0.0.1', '192.0.2.1'],
        ...file,
      },
    );

  test('from an internal location, or by the name of the file', () => {
    expect(internal()).toEqual({
      'x-accel-redirect': '/_mediary/objects/ab/renditions/a/1-1/r0-00001.m4s',
      'x-accel-expires': '1',
    });
    expect(internal({ segmentDelivery: 'x-sendfile' })).toEqual({
      'x-sendfile': '/srv/media/objects/ab/renditions/a/1-1/r0-00001.m4s',
    });
  });

  test('asked each time for what a cookie opened', () => {
    expect(internal({}, { isByCookie: true })).not.toHaveProperty('x-accel-expires');
  });

  test('only of requests that passed it, of a disk store, and in these modes', () => {
    expect(internal({}, { addresses: () => ['192.0.2.1'] })).toBeUndefined();
    expect(internal({}, { path: 'hls.m3u8' })).toBeUndefined();
    expect(internal({ store: {} })).toBeUndefined();
    expect(internal({ storeFolder: '/srv/other' })).toBeUndefined();
    for (const segmentDelivery of ['service', 'redirect'])
      expect(internal({ segmentDelivery })).toBeUndefined();
  });
});
