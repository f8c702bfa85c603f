// Tests when a job renders a large AVIF variant again, and which variant viewers then get.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ImageStore, openImageStore, PROCESSOR } from '../../../test/support/store/image-store.ts';
import type { Asset } from '../assets/asset.ts';
import type { VariantsContext } from './context.ts';
import { getVariant } from './images.ts';
import { improveVariantJob } from './improve-variant.job.ts';

let images: ImageStore;
beforeAll(async () => {
  images = await openImageStore();
});
afterAll(() => images.close());

describe('an AVIF variant of more than two megapixels', () => {
  const query = { w: 2560, format: 'avif' } as const;
  const improve = (context: VariantsContext, assetId: string, file = '2560x1920-improved.avif') =>
    improveVariantJob(context)({ payload: { assetId, file }, signal: new AbortController().signal });
  const finding = (asset: Asset) => ({
    lifecycle: { ...images.createContext().lifecycle, findAssetById: async () => asset },
  });

  test('is rendered fast once, and again by a job of its owner, which replaces it', async () => {
    const asset = await images.storeImage(40);
    const sent: object[] = [];
    const context = images.createContext({
      ...finding(asset),
      jobs: { sendFor: async (_tx, owner, job) => void sent.push({ owner, ...job }) },
    });
    const request = () => getVariant(context, asset, { query, accept: undefined });
    const key = (name: string) => ({ key: `variants/${asset.id}/${name}`, name: '2560x1920.avif' });
    expect([await request(), await request()]).toMatchObject([key('2560x1920.avif'), key('2560x1920.avif')]);
    await improve(context, asset.id);
    expect(await request()).toMatchObject(key('2560x1920-improved.avif'));
    const payload = { assetId: asset.id, file: '2560x1920-improved.avif' };
    expect(sent).toEqual([{ owner: asset.owner_user_id, name: 'improve-variant', payload }]);
  });

  test('stays as it is where no improved one can be rendered', async () => {
    const asset = await images.storeImage(41);
    const context = images.createContext({
      ...finding(asset),
      jobs: { sendFor: async () => {} },
      imageProcessor: {
        ...PROCESSOR,
        render: async (_, { isImproved }) =>
          isImproved ? { refused: 'too_demanding' } : { bytes: Buffer.from('fast') },
      },
    });
    const request = () => getVariant(context, asset, { query, accept: undefined });
    const fast = await request();
    await improve(context, asset.id);
    expect(await images.listVariantKeys(asset)).toContain(
      `variants/${asset.id}/late-2560x1920-improved.avif`,
    );
    expect([fast.substituteFor, await request()]).toEqual([undefined, fast]);
  });

  test('is not improved for a deleted image, an earlier poster or an unknown name', async () => {
    const asset = await images.storeImage(42);
    const playback = { kind: 'own', attempt: 1, folder: '1-1' } as const;
    const imageProcessor = { ...PROCESSOR, render: () => Promise.reject(new Error('it is rendered')) };
    for (const [more, file] of [
      [{ deleted_at: new Date() }],
      [{ playback }, 'v1-1-500-2560x1920-improved.avif'],
      [{}, 'frame-1-2-45-320.jpg'],
    ] as const)
      await improve(
        images.createContext({ ...finding({ ...asset, ...more }), imageProcessor }),
        asset.id,
        file,
      );
    expect(await images.listVariantKeys(asset)).toEqual([]);
  });
});
