// Copies the stored objects of an asset's file to another asset.
import type { Asset } from '../../assets/asset.ts';
import { inBatches } from '../../platform/concurrency/in-batches.ts';
import { type ObjectKey, toKeyOf } from '../../storage/object-key.ts';
import type { LifecycleContext } from '../context.ts';
import { listReferences } from '../decisions/stored-references.ts';

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

async function* keysAt({ list }: LifecycleContext['store'], place: ObjectKey): AsyncGenerator<ObjectKey> {
  if (place.endsWith('/')) yield* list(place);
  else yield place;
}
