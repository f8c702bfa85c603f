// Tests when videos are inspected by a listing or one by one, and the rate limit.
import { expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo } from '../lifecycle/asset.fixture.ts';
import { inspectAll } from './inspections.ts';
import { createHostedProvider, createProvidersContext } from './context.fixture.ts';
import { type HostedApi, type Inspection, type ListedVideo, ProviderError } from './provider.ts';

const known = (progress: number): Inspection => ({
  state: 'known',
  report: { source: 'inspect', provider: 'cdnhost', event: 'started', progress },
});
const assets = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    createVideo({ id: `asset-${n}`, provider: 'cdnhost', provider_video_id: `v-${n}` }),
  );
const listedVideo = (videoId: string): ListedVideo => ({
  videoId,
  assetId: undefined,
  createdAt: new Date(0),
  inspection: () => known(1),
});

/** A provider that lists the given videos and records the calls. */
function provider({
  listed = [],
  inspect = async () => known(2),
  list,
}: {
  listed?: readonly string[];
  inspect?: HostedApi['inspect'];
  list?: HostedApi['list'];
} = {}) {
  const calls: string[] = [];
  const cdnhost = createHostedProvider('cdnhost', {
    inspect: (videoId) => {
      calls.push(videoId);
      return inspect(videoId);
    },
    list:
      list ??
      async function* () {
        calls.push('list');
        yield* listed.map(listedVideo);
      },
  });
  return { calls, ctx: createProvidersContext({ registry: new Map([['cdnhost', cdnhost]]) }) };
}

test('few videos are inspected one by one', async () => {
  const { calls, ctx } = provider();
  const answers = await inspectAll(ctx, assets(3));
  expect(calls).toEqual(['v-0', 'v-1', 'v-2']);
  expect([...answers.keys()]).toEqual(['asset-0', 'asset-1', 'asset-2']);
});

test('many videos are found in the listing, and only the remaining ones are inspected', async () => {
  const { calls, ctx } = provider({
    listed: [
      'unknown',
      ...assets(30)
        .slice(2)
        .map((asset) => String(asset.provider_video_id)),
    ],
  });
  const answers = await inspectAll(ctx, assets(30));
  expect(calls).toEqual(['list', 'v-0', 'v-1']);
  expect(answers.size).toBe(30);
  expect([answers.get('asset-0'), answers.get('asset-29')]).toEqual([known(2), known(1)]);
});

test('a failed listing does not prevent single inspections', async () => {
  const { ctx } = provider({
    // biome-ignore lint/correctness/useYield: the listing fails before its first video.
    list: async function* () {
      throw new ProviderError('provider_error');
    },
  });
  expect((await inspectAll(ctx, assets(25))).size).toBe(25);
});

test('rejected requests are reported by asset, and assets above the limit are omitted', async () => {
  const { calls, ctx } = provider({
    inspect: async () => {
      throw new ProviderError('provider_rejected');
    },
  });
  const answers = await inspectAll(ctx, assets(150));
  expect(calls).toHaveLength(101);
  expect(answers.size).toBe(100);
  expect(answers.get('asset-99')).toBeInstanceOf(ProviderError);
  expect(answers.get('asset-100')).toBeUndefined();
});

test('an error of the service is not a failure of the provider', async () => {
  const { ctx } = provider({
    inspect: async () => {
      throw new TypeError('ours');
    },
  });
  await expect(inspectAll(ctx, assets(1))).rejects.toThrow('ours');
});

test('twenty videos are enough for a listing, which ends with the last one that was wanted', async () => {
  const listed: string[] = [];
  const { calls, ctx } = provider({
    list: async function* () {
      yield listedVideo('stranger');
      for (let n = 0; n < 40; n += 1) {
        listed.push(`v-${n}`);
        yield listedVideo(`v-${n}`);
      }
    },
  });
  expect((await inspectAll(ctx, assets(20))).size).toBe(20);
  expect([listed.length, calls]).toEqual([20, []]);
});

test('no more than 3000 videos are listed', async () => {
  let listed = 0;
  const { ctx } = provider({
    list: async function* () {
      for (; listed < 5000; ) {
        listed += 1;
        yield listedVideo('stranger');
      }
    },
  });
  await inspectAll(ctx, assets(20));
  expect(listed).toBe(3000);
});

test('each provider inspects its own videos', async () => {
  const calls: string[] = [];
  const inspecting = (name: string) =>
    createHostedProvider(name, {
      inspect: async (videoId) => {
        calls.push(`${name} ${videoId}`);
        return known(2);
      },
    });
  const registry = new Map(['cdnhost', 'edgehost'].map((name) => [name, inspecting(name)]));
  const [first, second] = assets(2) as [Asset, Asset];
  await inspectAll(createProvidersContext({ registry }), [first, { ...second, provider: 'edgehost' }]);
  expect(calls).toEqual(['cdnhost v-0', 'edgehost v-1']);
});
