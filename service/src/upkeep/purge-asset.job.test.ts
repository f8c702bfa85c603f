// Tests which objects the purge job removes, and which it keeps.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { NOW, createVideo } from '../lifecycle/asset.fixture.ts';
import { removeAtOnce } from '../lifecycle/objects/deferred-removals.fixture.ts';
import { databaseOf } from '../platform/postgres/database.fixture.ts';
import { openDiskObjectStore } from '../storage/disk-object-store.ts';
import { type ObjectKey, renditionKey, storeRoots, uploadKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { createUpkeepContext } from './context.fixture.ts';
import { isOrphan, type ObjectOwner, parseKey } from './orphan.ts';
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

type Given = {
  readonly store?: ObjectStore;
  readonly isHosted?: boolean;
  /** What the database knows of the asset's objects; undefined: nothing. */
  readonly owner?: ObjectOwner;
  readonly removeVideo?: () => Promise<void>;
};

/** Runs the job; returns the jobs that it sends. */
async function purge(asset: Asset, given: Given = {}) {
  const sent: unknown[] = [];
  const { owner, isHosted = false } = given;
  const ctx = createUpkeepContext({
    db: databaseOf({ all: () => (owner ? [owner] : []) }),
    jobs: { sendFor: async (_tx, _owner, job) => void sent.push(job) },
    store: given.store ?? store,
    lifecycle: { findAssetById: async () => asset, removeUnlessDeferred: removeAtOnce(store) },
    encoding: { deleteGrowingIndexes: async () => {} },
    uploads: { discardClosedUploads: async () => {} },
    providers: {
      isHosted: () => isHosted,
      removeVideo: given.removeVideo ?? (async () => {}),
      releaseEncoder: async () => {},
    },
  });
  await purgeAssetJob(ctx)({ payload: { assetId: asset.id }, signal: new AbortController().signal });
  return sent;
}

type PurgedAsset = Partial<Asset> & {
  readonly openUpload?: string;
  /** The other upload waits for its removal. */
  readonly keepsOther?: boolean;
  /** The other upload is the original of a replacement. */
  readonly isCopied?: boolean;
};

/** Which of original, other upload and rendition remain after the job. */
async function runPurge({ openUpload, keepsOther, isCopied, ...change }: PurgedAsset): Promise<{
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
  const deferred = keepsOther ? [keys.other] : [];
  for (const key of Object.values(keys)) await store.put(key, bytes(), 10);
  let removedVideo = false;
  const removeVideo = async () => {
    removedVideo = true;
  };
  const open_uploads = openUpload ? [openUpload] : [];
  const next_upload = isCopied ? otherUpload : null;
  const owner = { ...asset, open_uploads, deferred, next_upload, next_playback: null };
  await purge(asset, { owner, removeVideo });
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
  ['an original that a replacement has just copied is kept', { isCopied: true }, 'original other rendition'],
  ['an earlier original that waits is kept', { keepsOther: true }, 'original other rendition'],
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

test('renditions that a replacement copies are no orphans', () => {
  const asset = createVideo({ playback: { kind: 'own', attempt: 1, folder: '1-1' } });
  const owner = { ...asset, open_uploads: [], deferred: [], next_upload: null };
  const copied = parseKey(renditionKey(asset.id, '2-1', 'thumb.jpg'));
  expect(isOrphan(copied, { ...owner, next_playback: null })).toBe(true);
  const next_playback = { kind: 'own', attempt: 2, folder: '2-1' } as const;
  expect(isOrphan(copied, { ...owner, next_playback })).toBe(false);
  expect(isOrphan(parseKey(renditionKey(asset.id, '2-2', 'thumb.jpg')), { ...owner, next_playback })).toBe(
    true,
  );
});

test('a purged asset leaves no key in the store', async () => {
  const id = randomUUID();
  await store.put(uploadKey(id, randomUUID()), bytes(), 10);
  await purge(createVideo({ id, deleted_at: NOW }));
  for (const prefix of storeRoots())
    for await (const key of store.list(prefix)) expect(key).not.toContain(id);
});

const MINUTE = 60_000;
const minutesLater = (minutes: number) => new Date(NOW.getTime() + minutes * MINUTE);

describe('with an S3 store, whose presigned URLs outlive the asset', () => {
  const direct = {} as NonNullable<ObjectStore['direct']>;
  const announced = { deleted_at: NOW, announced_size_bytes: 5, upload_expires_at: minutesLater(10) };
  const repeated = (id: string) => [
    { name: 'purge-asset', payload: { assetId: id }, startAfter: minutesLater(70) },
  ];

  test.each<[string, Partial<Asset>]>([
    ['of the asset', announced],
    ['of an earlier attempt', { ...announced, announced_size_bytes: null, attempt: 2 }],
  ])('runs again when the transfers to the URL %s have ended', async (_, change) => {
    const asset = createVideo({ id: randomUUID(), ...change });
    expect(await purge(asset, { store: { ...store, direct } })).toEqual(repeated(asset.id));
  });

  test.each<[string, Partial<Asset>, object]>([
    ['after they have ended', { ...announced, upload_expires_at: minutesLater(-60) }, {}],
    ['without an announced size', { ...announced, announced_size_bytes: null }, {}],
    ['where the provider takes the bytes', announced, { isHosted: true }],
  ])('runs once %s', async (_, change, changes) => {
    const asset = createVideo({ id: randomUUID(), ...change });
    expect(await purge(asset, { store: { ...store, direct }, ...changes })).toEqual([]);
  });
});

test('on a disk, which has no presigned URLs, runs once', async () => {
  const asset = createVideo({
    id: randomUUID(),
    announced_size_bytes: 5,
    upload_expires_at: minutesLater(10),
  });
  expect(await purge(asset)).toEqual([]);
});
