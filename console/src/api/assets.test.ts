// Which playback URLs screens keep when assets have changed, and for how long.
import { EXAMPLE_ASSET } from '@mediary/contract/schemas/assets/asset';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { beforeAll, expect, test, vi } from 'vitest';

let refreshAssets: typeof import('./assets.ts').refreshAssets;
let playbackQuery: typeof import('./assets.ts').playbackQuery;
beforeAll(async () => {
  vi.stubGlobal('location', new URL('http://127.0.0.1/console/'));
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/console/', querySelector: () => null });
  ({ refreshAssets, playbackQuery } = await import('./assets.ts'));
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

const HOUR_MS = 3_600_000;
test.each([
  { name: 'a public asset after a day', endsAfter: null, hours: 24, isStale: false },
  { name: 'a private asset before they end', endsAfter: 6, hours: 5, isStale: false },
  { name: 'a private asset after they have ended', endsAfter: 6, hours: 7, isStale: true },
])('URLs of $name', ({ endsAfter, hours, isStale }) => {
  const queries = new QueryClient();
  const query = playbackQuery({ ...EXAMPLE_ASSET, metadata: {} });
  const readAt = Date.now() - hours * HOUR_MS;
  const endsAt = endsAfter === null ? null : new Date(readAt + endsAfter * HOUR_MS).toISOString();
  const playback = { kind: 'video', expires_at: endsAt };
  queries.setQueryData<unknown>([...query.queryKey], playback, { updatedAt: readAt });
  expect(new QueryObserver(queries, query).getCurrentResult().isStale).toBe(isStale);
});
