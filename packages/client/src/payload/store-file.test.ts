// A file is stored once, in place of an older one, and a refused file leaves nothing behind.
import { expect, test } from 'vitest';
import type { Asset } from '../api/assets.ts';
import { AssetFailedError, ConnectionError, MediaryError, TimeoutError } from '../errors.ts';
import { createPagedList } from '../pages.ts';
import { computeSha256 } from '../upload/checksum.ts';
import { type StorageCalls, storeFile, toPayloadError } from './store-file.ts';

const content = new Blob(['bytes']);
const checksum = await computeSha256(content);
const FILE = {
  externalId: 'payload:media/a.png',
  filename: 'a.png',
  mimeType: 'image/png',
  visibility: 'public',
  content,
} as const;

const asset = (changes: Partial<Asset>): Asset =>
  ({ id: 'old', kind: 'image', stream_status: 'ready', version_of: null, ...changes }) as Asset;

type Behavior = Partial<StorageCalls> & { readonly existing?: Asset };

/** Remembers what is uploaded and deleted. */
function createStorage({ existing, ...behavior }: Behavior) {
  const calls: string[] = [];
  const media: StorageCalls = {
    list: () =>
      createPagedList(async () => ({ items: existing ? [existing] : [], next_cursor: null }), undefined),
    upload: async (_file, options) => {
      calls.push(`upload ${options?.replaces ?? 'new'}`);
      options?.onAsset?.('new');
      return asset({ id: 'new', version_of: options?.replaces ?? null });
    },
    waitUntilReady: async (awaited) =>
      typeof awaited === 'string' ? asset({ id: awaited }) : asset({ id: awaited.version_of ?? awaited.id }),
    delete: async (id) => {
      calls.push(`delete ${id}`);
      return { id, deleted: true };
    },
    playback: () => Promise.reject(new Error('not asked')),
    ...behavior,
  };
  return { media, calls };
}

const OTHER = { checksum_sha256: 'other' };
const SAME = { checksum_sha256: checksum };

test.each([
  ['no asset', { id: 'new', expected: ['upload new'] }],
  ['the same bytes', { existing: asset(SAME), id: 'old', expected: [] }],
  ['other bytes', { existing: asset(OTHER), id: 'old', expected: ['upload old'] }],
  [
    'the same bytes, which failed',
    { existing: asset({ ...SAME, stream_status: 'failed' }), id: 'old', expected: ['upload old'] },
  ],
  [
    'an upload that was interrupted',
    {
      existing: asset({ stream_status: 'pending_upload' }),
      id: 'new',
      expected: ['delete old', 'upload new'],
    },
  ],
])('there is %s', async (_, { id, expected, ...behavior }) => {
  const { media, calls } = createStorage(behavior);
  expect(await storeFile(media, FILE)).toBe(id);
  expect(calls).toEqual(expected);
});

test('a replacement that is not ready yet gives way to the next one', async () => {
  let isOther = true;
  const { media, calls } = createStorage({ existing: asset(OTHER) });
  const upload: StorageCalls['upload'] = async (file, options) => {
    if (!isOther) return media.upload(file, options);
    isOther = false;
    const details = { reason: 'replacement_in_progress', replacement_id: 'other' };
    throw new MediaryError('In progress.', { errorCode: 'CONFLICT', status: 409, details });
  };
  expect(await storeFile({ ...media, upload }, FILE)).toBe('old');
  expect(calls).toEqual(['delete other', 'upload old']);
});

test('a picture that cannot be processed is deleted', async () => {
  const failed = new AssetFailedError(asset({ stream_status: 'failed' }));
  const { media, calls } = createStorage({ waitUntilReady: () => Promise.reject(failed) });
  await expect(storeFile(media, FILE)).rejects.toBe(failed);
  expect(calls).toEqual(['upload new', 'delete new']);
});

test('a picture that takes long is stored, with the id of the asset whose file it replaces', async () => {
  const waitUntilReady = () => Promise.reject(new TimeoutError('30 s'));
  const existing = asset(OTHER);
  const { media, calls } = createStorage({ existing, waitUntilReady });
  expect(await storeFile(media, FILE)).toBe('old');
  expect(calls).toEqual(['upload old']);
});

test('editors see why a file is refused, and nothing about the server', () => {
  const refusal = { errorCode: 'BAD_REQUEST', details: { field: 'mime_type' }, status: 400 } as const;
  expect(toPayloadError(new MediaryError('Not supported.', refusal))).toMatchObject({
    message: 'Not supported.',
    ...refusal,
  });
  expect(toPayloadError(new AssetFailedError(asset({})))).toMatchObject({ status: 400 });
  for (const status of [401, 403])
    expect(toPayloadError(new MediaryError('Key.', { errorCode: 'FORBIDDEN', status }))).toMatchObject({
      status: 500,
    });
  expect(toPayloadError(new ConnectionError('Lost.', undefined))).toMatchObject({ status: 500 });
  const other = new RangeError('other');
  expect(toPayloadError(other)).toBe(other);
});
