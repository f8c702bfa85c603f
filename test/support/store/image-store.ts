// For tests of variants: an object store with images, and an image processor that returns the format's name.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Asset } from '../../../service/src/assets/asset.ts';
import { createVideo } from '../../../service/src/lifecycle/asset.fixture.ts';
import { removeAtOnce } from '../../../service/src/lifecycle/objects/deferred-removals.fixture.ts';
import { createSingleFlight } from '../../../service/src/platform/concurrency/single-flight.ts';
import { databaseOf } from '../../../service/src/platform/postgres/database.fixture.ts';
import { createStorageContext } from '../../../service/src/storage/context.fixture.ts';
import { openDiskObjectStore } from '../../../service/src/storage/disk-object-store.ts';
import { prepareLocalFile } from '../../../service/src/storage/local-file.ts';
import { type ObjectKey, originalKey, variantsPrefix } from '../../../service/src/storage/object-key.ts';
import { createImagesContext } from '../../../service/src/images/context.fixture.ts';
import type { VariantsContext } from '../../../service/src/images/context.ts';
import type { ImageProcessor } from '../../../service/src/images/image-processor.ts';

export const PROCESSOR: ImageProcessor = {
  canDecodeHeif: false,
  examine: async () => ({
    facts: {
      container: 'png',
      photo: null,
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

type Given = Partial<
  Pick<VariantsContext, 'jobs' | 'settings' | 'store' | 'imageProcessor' | 'now' | 'lifecycle'>
>;

export type ImageStore = Awaited<ReturnType<typeof openImageStore>>;

export async function openImageStore() {
  const root = await mkdtemp(join(tmpdir(), 'mediary-variants-'));
  const scratchRoot = join(root, 'scratch');
  await mkdir(scratchRoot);
  const store = await openDiskObjectStore(join(root, 'store'), { minFreeBytes: 0 });
  return {
    store,
    listScratch: () => readdir(scratchRoot),
    createContext: (given: Given = {}): VariantsContext =>
      createImagesContext({
        store,
        imageProcessor: PROCESSOR,
        db: databaseOf({ all: () => [] }),
        inFlight: createSingleFlight({ maxConcurrent: 100 }),
        lifecycle: {
          findAssetById: async (id) => createVideo({ id }),
          removeUnlessDeferred: removeAtOnce(given.store ?? store),
        },
        storage: {
          prepareLocalFile: (key) =>
            prepareLocalFile(createStorageContext({ store: given.store ?? store, scratchRoot }), key),
        },
        ...given,
      }),
    /** Stores an original, and returns its asset. */
    async storeImage(n: number, more: Partial<Asset> = {}): Promise<Asset> {
      const asset = createVideo({
        id: createAssetId(n),
        original_upload: createAssetId(n),
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
