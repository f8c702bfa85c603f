// Tests uploads in parts whose size is not announced, of an owner whose quota of bytes is nearly used.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import type { DirectUploads } from '../../storage/object-store.ts';
import { createUploadsWorld } from '../context.fixture.ts';
import type { UploadsContext } from '../context.ts';
import type { MultipartRow } from './multipart-row.ts';
import { createMultipart, signParts } from './multipart-uploads.ts';

const ASSET = createVideo({ announced_size_bytes: null });
const QUOTA = { reason: 'quota_exceeded', field: 'bytes', limit: 500 };
const ROW: MultipartRow = {
  id: randomUUID(),
  asset_id: ASSET.id,
  attempt: ASSET.attempt,
  target: { upload_id: 'u1', part_bytes: 8, max_bytes: 20 },
  size_bytes: null,
  bytes_received: 0,
  expires_at: new Date(NOW.getTime() + 600_000),
  finished_at: null,
};

/** The owner has used so many of 500 bytes. */
function createContext(used: number): UploadsContext {
  const { ctx } = createUploadsWorld(ASSET, { 'find multipart upload': ROW });
  const direct: Partial<DirectUploads> = {
    createMultipart: () => Promise.reject(new Error('created in the store')),
  };
  return {
    ...ctx,
    store: { ...ctx.store, direct: direct as DirectUploads },
    usage: { ...ctx.usage, findByteQuota: async () => ({ limit: 500, used }) },
  };
}

test('no upload is created where no byte is left', async () => {
  await expect(createMultipart(createContext(500), ASSET, undefined)).rejects.toMatchObject({
    details: { ...QUOTA, used: 500, requested: null },
  });
});

test.each([
  [3, 5, 21],
  [4, undefined, 25],
])('part %d of %s bytes is over the quota', async (partNumber, sizeBytes, requested) => {
  const signing = signParts(createContext(480), ASSET, { id: ROW.id, parts: [{ partNumber, sizeBytes }] });
  await expect(signing).rejects.toMatchObject({ details: { ...QUOTA, used: 480, requested } });
});
