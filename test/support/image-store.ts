// For tests of variants: an object store with images, and an image processor that returns the format's name.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Asset } from '../../service/src/assets/asset.ts';
import type { ImageProcessor } from '../../service/src/images/image-processor.ts';
import type { ImageNeeds } from '../../service/src/images/images.ts';
import { createVideo } from '../../service/src/lifecycle/asset.fixture.ts';
import { removeAtOnce } from '../../service/src/lifecycle/deferred-removals.fixture.ts';
import { createSingleFlight } from '../../service/src/platform/concurrency/single-flight.ts';
import { createStorageContext } from '../../service/src/storage/context.fixture.ts';
import { openDiskObjectStore } from '../../service/src/storage/disk-object-store.ts';
import { prepareLocalFile } from '../../service/src/storage/local-file.ts';
import { type ObjectKey, originalKey, variantsPrefix } from '../../service/src/storage/object-key.ts';

export const PROCESSOR: ImageProcessor = {
  canDecodeHeif: false,
  examine: async () => ({
    facts: {
      width: 4000,
      height: 3000,
      animated: false,
      isAnimationDropped: false,
      alpha: false,
      placeholder: 'hash',
    },
    thumbnail: Buffer.from('small'),
  }),
  render: async (_, { format }) => ({ bytes: Buffer.from(format) }),
};

export const createAssetId = (n: number) => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;

export type ImageStore = Awaited<ReturnType<typeof openImageStore>>;

export async function openImageStore() {
  const root = await mkdtemp(join(tmpdir(), 'mediary-images-'));
  const store = await openDiskObjectStore(root);
  const scratchRoot = join(root, 'scratch');
  await mkdir(scratchRoot);
  return {
    store,
    listScratch: () => readdir(scratchRoot),
    createNeeds: (more: Partial<ImageNeeds> = {}): ImageNeeds => ({
      store,
      removeUnlessDeferred: removeAtOnce(more.store ?? store),
      prepareLocalFile: (key) =>
        prepareLocalFile(createStorageContext({ store: more.store ?? store, scratchRoot }), key),
      processor: PROCESSOR,
      findAssetById: async (id) => createVideo({ id }),
      inFlight: createSingleFlight({ maxConcurrent: 100 }),
      maxVariantBytes: 1000,
      variantRetrySeconds: 900,
      now: () => new Date(),
      ...more,
    }),
    /** Stores an original, and returns its asset. */
    async storeImage(n: number, more: Partial<Asset> = {}): Promise<Asset> {
      const asset = createVideo({
        id: createAssetId(n),
        kind: 'image',
        width: 4000,
        height: 3000,
        playback: { kind: 'image', attempt: 1, animated: false, alpha: false },
        size_bytes: 8,
        ...more,
      });
      await store.put(originalKey(asset), Readable.from([Buffer.from('original')]), 100);
      return asset;
    },
    readText: async (key: ObjectKey) => (await store.read(key))?.bytes?.toString(),
    async listVariantKeys({ id }: Asset): Promise<ObjectKey[]> {
      const keys: ObjectKey[] = [];
      for await (const key of store.list(variantsPrefix(id))) keys.push(key);
      return keys;
    },
    close: () => rm(root, { recursive: true }),
  };
}
