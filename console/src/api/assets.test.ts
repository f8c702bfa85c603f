// Which playback URLs screens keep when assets have changed.
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { beforeAll, expect, test, vi } from 'vitest';

let refreshAssets: typeof import('./assets.ts').refreshAssets;
beforeAll(async () => {
  vi.stubGlobal('location', new URL('http://127.0.0.1/console/'));
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/console/', querySelector: () => null });
  ({ refreshAssets } = await import('./assets.ts'));
  vi.unstubAllGlobals();
});

test('URLs that a screen shows stay, and those that none shows are forgotten', async () => {
  const queries = new QueryClient();
  const shown = ['assets', 'one', 'playback', 'private'];
  const unused = ['assets', 'two', 'playback', 'private'];
  const playback = { hls: 'https://media.example/1.m3u8' };
  for (const key of [shown, unused]) queries.setQueryData(key, playback);
  const screen = new QueryObserver(queries, {
    queryKey: shown,
    queryFn: () => Promise.reject(new Error('a player would start anew')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const stop = screen.subscribe(() => {});
  await refreshAssets(queries);
  expect(queries.getQueryData(shown)).toEqual(playback);
  expect(queries.getQueryData(unused)).toBeUndefined();
  stop();
});
