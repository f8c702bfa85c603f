// Guards of `/media` routes: they authenticate the caller, and pass the asset or the owner to the handler.
import type { Caller } from '../auth/caller.ts';
import { assertOwnerAllowed, isOwnerAllowed } from '../auth/permissions.ts';
import { parseUserId } from '../auth/user-id.ts';
import { badRequest } from '../platform/http/errors.ts';
import { guarded, guardedBytes, guardedStream, type Guard, type Input } from '../platform/http/route.ts';
import type { Actor } from './asset-event.ts';
import type { Asset } from './asset.ts';
import type { AssetsContext, FindForCaller } from './context.ts';

type Admit<Extra> = (caller: Caller, input: Input) => Extra | Promise<Extra>;

/** Guards of what callers own. */
export const callerGuard =
  ({ callerOf }: Pick<AssetsContext['auth'], 'callerOf'>) =>
  <Extra>(name: string, admit: Admit<Extra>): Guard<Caller, Extra> => ({
    name,
    identify: callerOf,
    ownerOf: namedOwner,
    callerName: nameOf,
    admit,
  });

export type Guards = ReturnType<typeof assetGuards>;

export function assetGuards(ctx: AssetsContext) {
  const findFor = findReadable(ctx);
  const guard = callerGuard(ctx.auth);
  const withoutKeys = <Extra>(name: string, admit: Admit<Extra>): Guard<Caller, Extra> => {
    const { callerName: _, ...rest } = guard(name, admit);
    return rest;
  };
  const admitOwn = async (caller: Caller, { params }: Input) => ({
    caller,
    asset: await findFor(caller, params['id'] ?? ''),
  });
  return {
    /** Creates something for an owner. A service caller names the owner in the body. */
    asCreator: guarded(guard('caller', admitCreation)),
    /** As `asCreator`, for secrets: a stored response would hold one, so Idempotency-Keys are ignored. */
    asSecretCreator: guarded(withoutKeys('caller', admitCreation)),
    /** Reads the data of an owner. A service caller names the owner in the query. */
    asReader: guarded(
      guard('caller', (caller, { query }) => ({ actor: actorOf(caller, member(query, 'owner_user_id')) })),
    ),
    /** Reads one asset, and what `load` adds for the request. */
    ownAssetWith: <Extra>(load: LoadExtra<Extra>) => guarded(guard('owner', admitWith(admitOwn, load))),
    /** Reads one asset. */
    ownAsset: guarded(guard('owner', admitOwn)),
    /**
     * Changes one asset. A service caller names the owner in the body, or in the query because proxies drop
     * bodies of DELETE.
     */
    changingAsset: guarded(guard('owner', admitChange(findFor))),
    /** As `ownAsset` and `changingAsset`, for bytes. The owner is named in the query. */
    ownAssetBytes: guardedBytes(guard('owner', admitOwn)),
    changingAssetBytes: guardedBytes(guard('owner', admitChange(findFor))),
    /** Changes one asset that may be in the trash; a service caller may erase one that is purged. */
    changingTrash: guarded(guard('owner', admitTrashChange(ctx))),
    /** Follows one asset. */
    followingAsset: guardedStream(guard('owner', admitOwn)),
    /** Follows the assets of an owner; a service caller that names none follows all. */
    followingOwner: guardedStream(
      guard('caller', (caller, { query }) => ({
        caller,
        ownerUserId: followedOwner(caller, member(query, 'owner_user_id')),
      })),
    ),
  };
}

type LoadExtra<Extra> = (asset: Asset, input: Input) => Promise<Extra>;

const admitWith =
  <Own extends { readonly asset: Asset }, Extra>(admit: Admit<Own>, load: LoadExtra<Extra>) =>
  async (caller: Caller, input: Input): Promise<Own & Extra> => {
    const own = await admit(caller, input);
    return { ...own, ...(await load(own.asset, input)) };
  };

const findReadable =
  ({ lifecycle, auth }: AssetsContext): FindForCaller =>
  async (caller, id) => {
    const asset = await lifecycle.findAssetForCaller(caller, id);
    await auth.assertReadableByToken(caller, asset);
    return asset;
  };

const admitCreation = (caller: Caller, { body }: Input) => ({
  actor: actorOf(caller, member(body, 'owner_user_id')),
});

const admitChange =
  (find: FindForCaller) =>
  async (caller: Caller, { params, body, query }: Input) => {
    const actor = namedActor(caller, { body, query });
    return { actor, asset: await find(caller, params['id'] ?? '') };
  };

const admitTrashChange =
  ({ lifecycle: { findErasableAssetForCaller, findTrashedAssetForCaller } }: AssetsContext) =>
  (caller: Caller, input: Input) => {
    const isErasure = caller.kind === 'service' && member(input.query, 'erase') === true;
    return admitChange(isErasure ? findErasableAssetForCaller : findTrashedAssetForCaller)(caller, input);
  };

/** A service caller names the owner in the body, or in the query because proxies drop bodies of DELETE. */
export const namedActor = (caller: Caller, { body, query }: Pick<Input, 'body' | 'query'>): Actor =>
  actorOf(caller, member(body, 'owner_user_id') ?? member(query, 'owner_user_id'));

const actorOf = (caller: Caller, named: unknown): Actor => ({
  caller,
  ownerUserId: ownerOf(caller, named),
});

/** Users and services do not share their Idempotency-Keys, nor do named service keys. */
function nameOf(caller: Caller): string {
  if (caller.kind === 'user')
    return caller.upload ? `upload token ${caller.upload.id}` : `user ${caller.userId}`;
  return caller.key ? `service ${caller.key.id}` : 'service';
}

/**
 * The owner for the rate limit; a service call that reads one asset names none. A service key must not use up
 * the limits of owners that it may not act for.
 */
function namedOwner(caller: Caller, { body, query }: Pick<Input, 'body' | 'query'>): string | undefined {
  if (caller.kind === 'user') return caller.userId;
  const owner = parseUserId(member(body, 'owner_user_id') ?? member(query, 'owner_user_id'));
  return isOwnerAllowed(caller, owner) ? owner : undefined;
}

function followedOwner(caller: Caller, named: unknown): string | undefined {
  if (caller.kind === 'user' || named !== undefined) return ownerOf(caller, named);
  assertOwnerAllowed(caller, undefined);
  return undefined;
}

const member = (value: unknown, name: string): unknown => (value as Record<string, unknown> | null)?.[name];

/** Users are the owners of their requests; service callers must name the owner. */
function ownerOf(caller: Caller, named: unknown): string {
  if (caller.kind === 'user') return caller.userId;
  const owner = parseUserId(named);
  if (owner === undefined)
    throw badRequest('owner_user_id is required: a service call names the owner, 1–255 characters', {
      field: 'owner_user_id',
      reason: 'required',
    });
  assertOwnerAllowed(caller, owner);
  return owner;
}
