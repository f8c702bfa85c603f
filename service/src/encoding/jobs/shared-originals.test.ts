// Tests that chunks share a copy of their original, which is deleted when no chunk needs it.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { uploadKey } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { EncodingContext } from '../context.ts';
import { createEncodingContext } from '../context.fixture.ts';
import { createSharedOriginals } from './shared-originals.ts';

const KEY = uploadKey('01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002');
const never = new AbortController().signal;

let scratchRoot: string;
let copies: AbortSignal[];
/** Resolves when the bytes of the next copy have arrived. */
let arrival: Promise<void>;
beforeEach(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-originals-'));
  [copies, arrival] = [[], Promise.resolve()];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(scratchRoot, { recursive: true });
});

const openShared = (store: Pick<ObjectStore, 'localFile'> = {}) => {
  const findLocalFile: EncodingContext['worker']['findLocalFile'] = async (_, { path, signal = never }) => {
    if (store.localFile) return { path: store.localFile(KEY) };
    copies.push(signal);
    await arrival;
    await writeFile(path, 'film');
    return { path };
  };
  const ctx = createEncodingContext({ store: store, worker: { scratchRoot, findLocalFile } });
  return createSharedOriginals(ctx);
};

const folders = () => readdir(scratchRoot);

test('chunks at the same time, and one after the other, use one copy', async () => {
  const originals = openShared();
  const [first, second] = await Promise.all([originals.open(KEY, never), originals.open(KEY, never)]);
  expect(first.file).toEqual(second.file);
  first.release();
  second.release();
  vi.advanceTimersByTime(29_000);
  (await originals.open(KEY, never)).release();
  vi.advanceTimersByTime(29_000);
  expect([copies.length, (await folders()).length]).toEqual([1, 1]);
});

test('a copy is deleted when it was not used for 30 s, and made again when it is needed', async () => {
  const originals = openShared();
  (await originals.open(KEY, never)).release();
  vi.advanceTimersByTime(31_000);
  await vi.waitFor(async () => expect(await folders()).toEqual([]));
  const { file } = await originals.open(KEY, never);
  expect([copies.length, file?.path.startsWith(scratchRoot)]).toEqual([2, true]);
});

test('a chunk that is stopped does not stop the copy for another; the last one does', async () => {
  const arriving = Promise.withResolvers<void>();
  arrival = arriving.promise;
  const originals = openShared();
  const stops = [new AbortController(), new AbortController()];
  const opened = stops.map(({ signal }) => originals.open(KEY, signal).then(({ file }) => file));
  await vi.waitFor(() => expect(copies).toHaveLength(1));
  stops[0]?.abort(new Error('deleted'));
  await expect(opened[0]).rejects.toThrow('deleted');
  expect(copies[0]?.aborted).toBe(false);
  stops[1]?.abort(new Error('deleted too'));
  await expect(opened[1]).rejects.toThrow('deleted too');
  expect(copies[0]?.aborted).toBe(true);
  arriving.resolve();
  await vi.waitFor(async () => expect(await folders()).toEqual([]));
});

test("the store's own file is used where there is one", async () => {
  const original = await openShared({ localFile: (key) => `/store/${key}` }).open(KEY, never);
  original.release();
  expect([original.file, await folders()]).toEqual([{ path: `/store/${KEY}` }, []]);
});
