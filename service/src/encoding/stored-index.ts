// Reads the index of a run that has ended.
import { renditionKey } from '../storage/object-key.ts';
import { readText } from '../storage/whole-objects.ts';
import type { EncodingContext } from './context.ts';
import { INDEX_NAME, parseIndex, type RunIndex } from './packaging/run-index.ts';

type Stores = Pick<EncodingContext, 'store'>;
type RunRef = { readonly assetId: string; readonly folder: string };

/** Undefined where it is not stored. */
export async function readIndex(
  { store }: Stores,
  { assetId, folder }: RunRef,
): Promise<RunIndex | undefined> {
  const key = renditionKey(assetId, folder, INDEX_NAME);
  if ((await store.size(key)) === undefined) return undefined;
  return parseIndex(await readText(store, key));
}

/** Throws where it is not stored, so that a job is retried. */
export async function getIndex(ctx: Stores, run: RunRef): Promise<RunIndex> {
  const index = await readIndex(ctx, run);
  if (!index) throw new Error('the index of the run is not stored');
  return index;
}
