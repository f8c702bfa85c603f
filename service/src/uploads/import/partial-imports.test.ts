// Tests that a run of an import keeps no lease when the store or the database fails.
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { unavailable } from '../../platform/http/errors.ts';
import type { PartialObjects } from '../../storage/object-store.ts';
import { createUploadsWorld } from '../context.fixture.ts';
import type { UploadsContext } from '../context.ts';
import { createPartial, openPartial } from './partial-imports.ts';

const ASSET = createVideo();
const ROW = {
  id: randomUUID(),
  asset_id: ASSET.id,
  attempt: ASSET.attempt,
  target: null,
  size_bytes: 100,
  bytes_received: 0,
  expires_at: new Date(NOW.getTime() + 60_000),
  finished_at: null,
  concatenation: null,
  parts: null,
};
const FILE = { uploadId: ROW.id, validator: '"v1"', totalBytes: 100 };

afterEach(() => vi.useRealTimers());

const isDown = (): never => {
  throw unavailable('the store is down');
};

function createWorld(recordPartial?: () => never) {
  vi.useFakeTimers();
  const { ctx, statements } = createUploadsWorld(ASSET, {
    'claim resumable upload': { ...ROW, is_claimed: true },
    'lock pending asset': { id: ASSET.id },
    'insert resumable upload': ROW,
    'record partial import': recordPartial,
  });
  const partial: Partial<PartialObjects> = { discard: async () => isDown() };
  const store = { ...ctx.store, partial: partial as PartialObjects };
  return { ctx: { ...ctx, store } satisfies UploadsContext, statements };
}

/** The statements that follow once the run has failed. */
async function listLater(statements: readonly string[]): Promise<readonly string[]> {
  const before = statements.length;
  await vi.advanceTimersByTimeAsync(5000);
  return statements.slice(before);
}

test('an upload whose bytes cannot be discarded keeps no lease', async () => {
  const { ctx, statements } = createWorld();
  await expect(openPartial(ctx, { asset: ASSET, partial: FILE })).rejects.toThrow('the store is down');
  expect(statements).toContain('release resumable upload');
  expect(await listLater(statements)).toEqual([]);
});

test('an upload that cannot be recorded keeps no lease', async () => {
  const { ctx, statements } = createWorld(isDown);
  const run = { asset: ASSET, uploadId: randomUUID() } as Parameters<typeof createPartial>[1];
  await expect(createPartial(ctx, run, FILE)).rejects.toThrow('the store is down');
  expect(statements).toContain('release resumable upload');
  expect(await listLater(statements)).toEqual([]);
});
