// Tests what commands do to an asset that another request has changed meanwhile (contract B4).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW, VIDEOS } from './asset.fixture.ts';
import { openMemoryStore } from './memory-store.fixture.ts';
import { completeAsset, refuseAsset, verifyOriginal } from './commands.ts';
import { createLifecycleContext } from './context.fixture.ts';
import type { LifecycleContext } from './context.ts';

function openContext(stored: Asset) {
  const { update, decisions } = openMemoryStore(stored, NOW);
  const db = { one: async () => undefined, all: async () => [] };
  return { ctx: createLifecycleContext({ db, assets: { update } }), decisions };
}

describe('the end of an upload', () => {
  const first = createVideo();
  const failure = { code: 'not_media', message: 'No.', retryable: true } as const;
  const ends = [
    ['a completion', (ctx: LifecycleContext) => completeAsset(ctx, first, { facts: {} }), 'processing'],
    ['a refusal', (ctx: LifecycleContext) => refuseAsset(ctx, first, failure), 'failed'],
  ] as const;

  test.each(ends)('%s applies to its attempt', async (_what, end, stream_status) => {
    expect(await end(openContext(first).ctx)).toMatchObject({ attempt: 1, stream_status });
  });

  test.each(ends)('%s changes nothing in an attempt that a retry has opened', async (_what, end) => {
    const second = { ...first, attempt: 2 };
    const { ctx, decisions } = openContext(second);
    expect(await end(ctx)).toEqual(second);
    expect(decisions).toEqual([]);
  });
});

describe('the SHA-256 that an earlier attempt has computed', () => {
  const known = createVideo({
    ...VIDEOS.processing,
    attempt: 2,
    uploaded_at: NOW,
    original_upload: 'a',
    checksum_sha256: 'aa',
  });
  const read = () => {
    throw new Error('the bytes were read again');
  };

  test('fails the asset if another one was announced', async () => {
    const asset = { ...known, announced_sha256: 'bb' };
    expect(await verifyOriginal(openContext(asset).ctx, asset, { read })).toMatchObject({
      stream_status: 'failed',
      refused: true,
      failure: { code: 'checksum_mismatch' },
    });
  });

  test.each([null, 'aa'])('changes nothing if %s was announced', async (announced_sha256) => {
    const asset = { ...known, announced_sha256 };
    const { ctx, decisions } = openContext(asset);
    expect(await verifyOriginal(ctx, asset, { read })).toEqual(asset);
    expect(decisions).toEqual([]);
  });
});
