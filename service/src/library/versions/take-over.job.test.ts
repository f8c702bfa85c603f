// Tests that a takeover changes both assets or none, whatever happens while the objects are copied.
import { expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import type { AssetWrite, Decide } from '../../lifecycle/decisions/change.ts';
import type { AssetStore } from '../../lifecycle/store.ts';
import { contextOf } from '../../platform/values/context.fixture.ts';
import { createLibraryContext } from '../context.fixture.ts';
import type { LibraryContext } from '../context.ts';
import { takeOverJob } from './take-over.job.ts';

const ready = { stream_status: 'ready', uploaded_at: NOW, ready_at: NOW } as const;
const asset = createVideo({ ...ready, filename: 'old.mp4' });
const replacement = createVideo({
  ...ready,
  id: '01900000-0000-7000-8000-000000000002',
  version_of: asset.id,
  attempt: 2,
  filename: 'new.mp4',
});

type Lifecycle = LibraryContext['lifecycle'];
type Rows = Map<string, Asset>;

/** `onCopy` runs while objects are copied. */
function openRows(rows: Rows, onCopy: (rows: Rows) => void = () => {}) {
  const jobs: AssetWrite['jobs'][number][] = [];
  const write = (seen: Asset, { set, jobs: sent }: AssetWrite) => {
    jobs.push(...sent);
    rows.set(seen.id, { ...seen, ...set, revision: seen.revision + 1 });
  };
  const update = async <D extends AssetWrite | undefined>(
    ref: Parameters<Lifecycle['update']>[0],
    decide: Decide<D>,
  ) => {
    const seen = rows.get('id' in ref ? ref.id : 'assetId' in ref ? ref.assetId : '') as Asset;
    const decision = decide(seen, NOW);
    if (decision) write(seen, decision);
    return { asset: seen, decision };
  };
  const updateTogether: AssetStore['updateTogether'] = async (changes) => {
    if (changes.some(({ seen }) => rows.get(seen.id)?.revision !== seen.revision)) return false;
    for (const { seen, decision } of changes) write(seen, decision);
    return true;
  };
  const lifecycle: Partial<Lifecycle> = {
    findAssetById: async (id) => rows.get(id),
    copyFile: async () => onCopy(rows),
    removeFileCopies: async () => {},
    update,
    assetStore: contextOf<AssetStore>({ updateTogether }),
  };
  const run = takeOverJob(createLibraryContext({ lifecycle }));
  const payload = { assetId: replacement.id };
  return {
    jobs,
    run: () => run({ payload, signal: new AbortController().signal }),
    asset: () => rows.get(asset.id) as Asset,
    replacement: () => rows.get(replacement.id) as Asset,
  };
}

const rowsOf = (...assets: Asset[]): Rows => new Map(assets.map((row) => [row.id, row]));

test('a copy that fails changes nothing, and the next run goes on', async () => {
  let failures = 1;
  const opened = openRows(rowsOf(asset, replacement), () => {
    if (failures-- > 0) throw new Error('the store is down');
  });
  await expect(opened.run()).rejects.toThrow('the store is down');
  expect([opened.asset(), opened.replacement()]).toEqual([asset, replacement]);
  await opened.run();
  expect(opened.asset().filename).toBe('new.mp4');
  expect(opened.replacement().deleted_at).toEqual(NOW);
  await opened.run();
  expect(opened.asset().attempt, 'once').toBe(2);
});

test('what changes during the copy is taken over too', async () => {
  let edits = 1;
  const opened = openRows(rowsOf(asset, replacement), (rows) => {
    const seen = rows.get(replacement.id) as Asset;
    const chapters = [{ start_ms: 0, title: 'Late' }];
    if (edits-- > 0) rows.set(seen.id, { ...seen, chapters, revision: seen.revision + 1 });
  });
  await opened.run();
  expect(opened.asset()).toMatchObject({ filename: 'new.mp4', chapters: [{ title: 'Late' }] });
});

test('a replacement that is deleted during the copy takes nothing over', async () => {
  const opened = openRows(rowsOf(asset, replacement), (rows) => {
    const seen = rows.get(replacement.id) as Asset;
    rows.set(seen.id, { ...seen, deleted_at: NOW, revision: seen.revision + 1 });
  });
  await opened.run();
  expect(opened.asset()).toEqual(asset);
});

test('an asset that is deleted for good during the copy loses the copies, also after a failure', async () => {
  const purge = { name: 'purge-asset', payload: { assetId: asset.id } };
  const remove = (rows: Rows) =>
    rows.set(asset.id, { ...asset, deleted_at: NOW, purge_at: null, revision: 9 });
  const opened = openRows(rowsOf(asset, replacement), remove);
  await opened.run();
  expect(opened.replacement().deleted_at).toEqual(NOW);
  expect(opened.jobs).toContainEqual(purge);

  const failing = openRows(rowsOf(asset, replacement), (rows) => {
    remove(rows);
    throw new Error('the store is down');
  });
  await expect(failing.run()).rejects.toThrow('the store is down');
  await failing.run();
  expect(failing.jobs).toContainEqual(purge);
});

test('a hold on one of the two lets it wait, and an asset that is gone ends it', async () => {
  const held = openRows(rowsOf({ ...asset, legal_hold: true }, replacement));
  await held.run();
  expect(held.replacement()).toEqual(replacement);
  const heldReplacement = { ...replacement, legal_hold: true };
  const waiting = openRows(rowsOf(asset, heldReplacement));
  await waiting.run();
  expect([waiting.asset(), waiting.replacement()]).toEqual([asset, heldReplacement]);
  const gone = openRows(rowsOf({ ...asset, deleted_at: NOW, purge_at: null }, replacement));
  await gone.run();
  expect(gone.replacement().deleted_at).toEqual(NOW);
});

test('another attempt of the asset fails it, and a retry is above that attempt', async () => {
  const opened = openRows(rowsOf({ ...asset, attempt: 4 }, replacement));
  await opened.run();
  expect(opened.replacement()).toMatchObject({
    stream_status: 'failed',
    attempt: 4,
    failure: { code: 'replacement_overtaken' },
  });
});
