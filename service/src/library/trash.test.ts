// Tests that deleting an asset stops its playback at once, and that a restore undoes it (contract B2).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import type { JobRequest } from '../jobs.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { openMemoryStore } from '../lifecycle/memory-store.fixture.ts';
import { unavailable } from '../platform/http/errors.ts';
import { databaseOf } from '../platform/postgres/database.fixture.ts';
import { createLibraryContext } from './context.fixture.ts';
import type { LibraryContext } from './context.ts';
import { deleteAsset, emptyTrash, restoreAsset } from './trash.ts';

type DeleteRequest = Parameters<typeof deleteAsset>[2];

const EARLIER = new Date(NOW.getTime() - 86_400_000);
const IN_TEN_DAYS = new Date(NOW.getTime() + 10 * 86_400_000);
const asset = createVideo({ version: 3, playback_version: 5 });
const trashed = createVideo({ deleted_at: EARLIER, purge_at: IN_TEN_DAYS });
const purged = createVideo({ deleted_at: EARLIER, purge_at: null });
const encode: JobRequest = { name: 'encode-asset', payload: { assetId: asset.id, attempt: 1 } };

type Update = LibraryContext['lifecycle']['update'];

const contextOf = (update: Update, startJob: () => JobRequest | undefined = () => encode) =>
  createLibraryContext({
    lifecycle: { update },
    providers: { startJob },
  });

async function deleted(seen: Asset | 'missing', more: Partial<DeleteRequest> = {}) {
  const { update, decisions } = openMemoryStore(seen, NOW);
  const request = { isPermanent: false, ifMatch: undefined, actorData: { user: 'ann' }, ...more };
  return { result: await deleteAsset(contextOf(update), asset, request), decisions };
}

async function restored(seen: Asset | 'missing', startJob?: () => JobRequest | undefined) {
  const { update, decisions } = openMemoryStore(seen, NOW);
  const result = await restoreAsset(contextOf(update, startJob), asset, { user: 'ann' });
  return { result, decisions };
}

describe('a deletion', () => {
  test('moves the asset to the trash for TRASH_DAYS, and ends its playback tokens', async () => {
    const { result, decisions } = await deleted(asset);
    expect(result).toEqual({ id: asset.id, deleted: true });
    expect(decisions).toEqual([
      {
        set: { deleted_at: NOW, purge_at: IN_TEN_DAYS, version: 4, playback_version: 6 },
        events: [{ type: 'asset.deleted', data: { user: 'ann', restorable: true } }],
        jobs: [],
      },
    ]);
  });
  test('for good removes the bytes, also of an asset in the trash', async () => {
    const { decisions } = await deleted(trashed, { isPermanent: true });
    expect(decisions).toMatchObject([
      {
        set: { deleted_at: EARLIER, purge_at: null },
        events: [{ type: 'asset.deleted', data: { user: 'ann', restorable: false } }],
        jobs: [{ name: 'purge-asset', payload: { assetId: asset.id } }],
      },
    ]);
  });
  test('that erases removes the bytes, also of an asset that is deleted for good', async () => {
    const removal = { jobs: [{ name: 'purge-asset', payload: { assetId: asset.id } }], isErasure: true };
    for (const seen of [asset, trashed])
      expect((await deleted(seen, { isPermanent: true, isErasure: true })).decisions).toMatchObject([
        removal,
      ]);
    const { decisions } = await deleted(purged, { isPermanent: true, isErasure: true });
    expect(decisions).toEqual([{ set: {}, events: [], ...removal }]);
  });
  test('that is repeated changes nothing', async () => {
    expect(await deleted(trashed)).toEqual({ result: { id: asset.id, deleted: true }, decisions: [] });
  });
  test('of an asset that is deleted for good, or missing, finds nothing', async () => {
    for (const seen of [purged, 'missing'] as const)
      await expect(deleted(seen, { isPermanent: true })).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'No such asset',
      });
  });
  test('keeps to the version that the caller has seen', async () => {
    await expect(deleted(asset, { ifMatch: '"2"' })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    expect((await deleted(asset, { ifMatch: '"3"' })).decisions).toHaveLength(1);
  });
});

describe('a restore', () => {
  test('takes the asset out of the trash', async () => {
    const { result, decisions } = await restored(trashed);
    expect(result).toEqual({ ...trashed, deleted_at: null, purge_at: null });
    expect(decisions).toEqual([
      {
        set: { deleted_at: null, purge_at: null },
        events: [{ type: 'asset.restored', data: { user: 'ann' } }],
        jobs: [],
      },
    ]);
  });
  test('starts the encoding that the deletion stopped, where there is one', async () => {
    const processing = { ...trashed, stream_status: 'processing' } as const;
    expect((await restored(processing)).decisions[0]?.jobs).toEqual([encode]);
    expect((await restored(processing, () => undefined)).decisions[0]?.jobs).toEqual([]);
  });
  test('encodes a video again whose report came during the deletion', async () => {
    const encoded = createVideo({ ...trashed, stream_status: 'processing', encoded_run: 2 });
    const undeleted = { deleted_at: null, purge_at: null };
    const restore = async (seen: Asset, isReporting: boolean) => {
      const { update, decisions } = openMemoryStore(seen, NOW);
      const jobs = { hasOpenJob: async () => isReporting };
      await restoreAsset({ ...contextOf(update), jobs }, encoded, {});
      return decisions;
    };
    expect(await restore(encoded, false)).toMatchObject([
      { set: { ...undeleted, encoded_run: 0 }, jobs: [encode] },
    ]);
    expect((await restore(encoded, true))[0]?.set).toEqual(undeleted);
    const changed = { ...encoded, revision: encoded.revision + 1 };
    expect((await restore(changed, false))[0]?.set).toEqual(undeleted);
  });
  test('makes the poster that was chosen meanwhile', async () => {
    const playing = createVideo({
      ...trashed,
      stream_status: 'ready',
      playback: { kind: 'own', attempt: 1, folder: '1-1' },
      poster_time_ms: 500,
    });
    expect((await restored(playing)).decisions[0]?.jobs).toEqual([
      { name: 'make-poster', payload: { assetId: asset.id } },
    ]);
  });
  test('of an asset that is not in the trash changes nothing', async () => {
    expect(await restored(asset)).toEqual({ result: asset, decisions: [] });
  });
  test('of an asset that is deleted for good, or missing, finds nothing', async () => {
    for (const seen of [purged, 'missing'] as const)
      await expect(restored(seen)).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'No such asset' });
  });
});

describe('emptying the trash', () => {
  /** The database returns the due assets batch by batch; the store has the assets as they are by now. */
  async function emptied(batches: readonly (readonly Asset[])[], now: (due: Asset) => Asset = (due) => due) {
    const rest = [...batches];
    const decisions: unknown[] = [];
    const update: Update = async (ref, decide) => {
      const store = openMemoryStore(now(ref as Asset), NOW);
      const updated = await store.update(ref, decide);
      decisions.push(...store.decisions);
      return updated;
    };
    const db = databaseOf({ all: () => rest.shift() ?? [] });
    return { count: await emptyTrash({ ...contextOf(update), db }), decisions };
  }

  test('deletes for good what is due', async () => {
    expect(await emptied([[trashed]])).toMatchObject({
      count: 1,
      decisions: [
        {
          set: { purge_at: null },
          events: [
            {
              type: 'asset.deleted',
              data: { source: 'service', reason: 'trash_days', restorable: false },
            },
          ],
          jobs: [{ name: 'purge-asset', payload: { assetId: trashed.id } }],
        },
      ],
    });
  });
  test('leaves alone what was restored or changed meanwhile', async () => {
    const changed = (due: Asset) => ({ ...due, revision: due.revision + 1 });
    expect(await emptied([[trashed]], changed)).toEqual({ count: 1, decisions: [] });
  });
  test('deletes the other assets if one of them fails', async () => {
    const [broken, ...others] = ['a', 'b', 'c'].map((id) => ({ ...trashed, id })) as [Asset, ...Asset[]];
    const purged: string[] = [];
    const purge = (error: Error) => {
      const update: Update = async (ref, decide) => {
        if (ref === broken) throw error;
        purged.push((ref as Asset).id);
        return openMemoryStore(ref as Asset, NOW).update(ref, decide);
      };
      const db = databaseOf({ all: () => [broken, ...others] });
      return emptyTrash({ ...contextOf(update), db });
    };
    await expect(purge(new Error('broken'))).rejects.toMatchObject({
      message: '1 of 3 due assets could not be deleted',
      errors: [new Error('broken')],
    });
    expect(purged).toEqual(['b', 'c']);
    await expect(purge(unavailable('The database is not available'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(purged).toHaveLength(2);
  });
  test('goes on until a batch is not full', async () => {
    const full = Array.from({ length: 200 }, () => trashed);
    expect((await emptied([full, full, [trashed], [trashed]])).count).toBe(401);
    expect((await emptied([full])).count).toBe(200);
  });
});
