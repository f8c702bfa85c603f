// Copies the stored objects of an asset's file to another asset.
import type { Asset } from '../../assets/asset.ts';
import { inBatches } from '../../platform/concurrency/in-batches.ts';
import { type ObjectKey, toKeyOf } from '../../storage/object-key.ts';
import type { LifecycleContext } from '../context.ts';
import { isReferenced, listFileReferences, listReferences } from '../decisions/stored-references.ts';
import { removeUnlessDeferred } from './deferred-removals.ts';

const CONCURRENCY = 16;

/** Can be repeated: objects that are there already stay. */
export async function copyFile(
  { store }: Pick<LifecycleContext, 'store'>,
  from: Asset,
  { assetId, signal }: { readonly assetId: string; readonly signal: AbortSignal },
): Promise<void> {
  for (const place of listReferences(from))
    for await (const keys of inBatches(keysAt(store, place), CONCURRENCY)) {
      signal.throwIfAborted();
      await Promise.all(keys.map((key) => store.copy(key, toKeyOf(assetId, key))));
    }
}

/** Removes what `copyFile` has copied, for a file that never took its place. Can be repeated. */
export async function removeFileCopies(
  ctx: Pick<LifecycleContext, 'db' | 'store'>,
  from: Asset,
  asset: Asset,
): Promise<void> {
  const copies = listFileReferences(from).map((place) => toKeyOf(asset.id, place));
  for (const place of copies)
    if (!isReferenced(asset, place)) await removeUnlessDeferred(ctx, asset.id, place);
}

async function* keysAt({ list }: LifecycleContext['store'], place: ObjectKey): AsyncGenerator<ObjectKey> {
  if (place.endsWith('/')) yield* list(place);
  else yield place;
}
