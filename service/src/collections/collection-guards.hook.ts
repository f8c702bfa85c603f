// Guards of collections: they authenticate the caller, and pass the collection to the handler.
import { callerGuard, namedActor } from '../assets/asset-guards.hook.ts';
import type { Caller } from '../auth/caller.ts';
import { headerValues } from '../platform/http/headers.ts';
import { guarded } from '../platform/http/route.ts';
import { findCollectionForCaller } from './collections.ts';
import type { CollectionsContext } from './context.ts';
import { readPlaylist } from './playlist.ts';

export function collectionGuards(ctx: CollectionsContext) {
  const guard = callerGuard(ctx.auth);
  const find = async (caller: Caller, id = '') => ({
    caller,
    collection: await findCollectionForCaller(ctx, caller, id),
  });
  return {
    /** Creates a collection, or lists those of an owner. A service caller names the owner. */
    ofOwner: guarded(guard('caller', (caller, input) => ({ actor: namedActor(caller, input) }))),
    ownCollection: guarded(guard('owner', (caller, { params }) => find(caller, params['id']))),
    /** A service caller names the owner, as for every change. */
    changingCollection: guarded(
      guard('owner', (caller, input) => {
        namedActor(caller, input);
        return find(caller, input.params['id']);
      }),
    ),
    /** Anybody for what is public. The playlist is read here, because its ETag depends on all of it. */
    viewing: guarded<Caller | undefined, { readonly playlist: Awaited<ReturnType<typeof readPlaylist>> }>({
      name: 'viewer',
      identify: (request) => (hasCredentials(request.raw) ? ctx.auth.callerOf(request) : undefined),
      ownerOf: (caller) => (caller?.kind === 'user' ? caller.userId : undefined),
      admit: async (caller, { params, query }) => ({
        playlist: await readPlaylist(
          ctx,
          { caller, id: params['id'] ?? '' },
          query as Parameters<typeof readPlaylist>[2],
        ),
      }),
    }),
  };
}

/** A session of the console counts only where the page says that it uses it. */
const hasCredentials = (raw: Parameters<typeof headerValues>[0]): boolean =>
  ['authorization', 'x-service-key', 'x-mediary-console'].some((name) => headerValues(raw, name).length > 0);
