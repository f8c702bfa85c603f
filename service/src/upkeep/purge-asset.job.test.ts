// Tests which objects the purge job removes, and which it keeps.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { NOW, createVideo } from '../lifecycle/asset.fixture.ts';
import { openDiskObjectStore } from '../storage/disk-object-store.ts';
import { type ObjectKey, renditionKey, storeRoots, uploadKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { purgeAssetJob } from './purge-asset.job.ts';

let root: string;
let store: ObjectStore;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mediary-test-'));
  store = await openDiskObjectStore(root, { minFreeBytes: 0 });
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('bytes');
}

/** Which of original, other upload and rendition remain after the job. */
async function runPurge({ openUpload, ...change }: Partial<Asset> & { openUpload?: string }): Promise<{
  original: boolean;
  other: boolean;
  rendition: boolean;
  removedVideo: boolean;
}> {
  const id = randomUUID();
  const [upload, otherUpload] = [randomUUID(), randomUUID()];
  const asset = createVideo({ id, uploaded_at: NOW, original_upload: upload, ...change });
  const keys = {
    original: uploadKey(id, upload),
    other: uploadKey(id, openUpload ?? otherUpload),
    rendition: renditionKey(id, '1-1', 'thumb.jpg'),
  };
  for (const key of Object.values(keys)) await store.put(key, bytes(), 10);
  let removedVideo = false;
  const removeVideo = async () => {
    removedVideo = true;
  };
  const purge = purgeAssetJob({
    findAssetById: async () => asset,
    findObjectOwner: async () => ({ ...asset, open_uploads: openUpload ? [openUpload] : [] }),
    store,
    discardClosedUploads: async () => {},
    removeVideo,
  });
  await purge({ payload: { assetId: id }, signal: new AbortController().signal });
  const remains = async (key: ObjectKey) => (await store.size(key)) !== undefined;
  return {
    original: await remains(keys.original),
    other: await remains(keys.other),
    rendition: await remains(keys.rendition),
    removedVideo,
  };
}

test.each([
  ['a live asset loses the uploads that are not its original', {}, 'original rendition'],
  [
    'an asset in the trash keeps its original and renditions',
    { deleted_at: NOW, purge_at: NOW },
    'original rendition',
  ],
  ['an upload that can still finish is kept', { openUpload: randomUUID() }, 'original other rendition'],
  ['a refused asset loses its original', { refused: true, uploaded_at: null }, 'rendition removedVideo'],
  ['a purged asset loses everything', { deleted_at: NOW }, 'removedVideo'],
])('%s', async (_what, change, kept) => {
  const remaining = await runPurge(change);
  expect(
    Object.entries(remaining)
      .filter(([, remains]) => remains)
      .map(([name]) => name)
      .join(' '),
  ).toBe(kept);
});

test('a purged asset leaves no key in the store', async () => {
  const id = randomUUID();
  await store.put(uploadKey(id, randomUUID()), bytes(), 10);
  const purge = purgeAssetJob({
    findAssetById: async () => createVideo({ id, deleted_at: NOW }),
    findObjectOwner: async () => undefined,
    store,
    discardClosedUploads: async () => {},
    removeVideo: async () => {},
  });
  await purge({ payload: { assetId: id }, signal: new AbortController().signal });
  for (const prefix of storeRoots())
    for await (const key of store.list(prefix)) expect(key).not.toContain(id);
});
