// The guards of `/media`: whoever passes is handed the caller, the owner or the asset, and there is no other way to one.
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.ts';
import { parseUserId } from '../auth/user-id.ts';
import { badRequest } from '../platform/errors.ts';
import { guarded, type Guard, type Input } from '../platform/http/route.ts';
import type { Actor } from './asset-event.ts';
import type { Asset } from './asset.ts';

type Door = (caller: Caller, id: string) => Promise<Asset>;
type Doors = {
  readonly callerOf: (request: FastifyRequest) => Caller;
  readonly findAssetForCaller: Door;
  /** Finds one in the trash too. */
  readonly findTrashedAssetForCaller: Door;
};

export type Guards = ReturnType<typeof assetGuards>;

export function assetGuards({
  callerOf,
  findAssetForCaller: findFor,
  findTrashedAssetForCaller: findInTrashFor,
}: Doors) {
  const guard = <Extra>(
    name: string,
    admit: (caller: Caller, input: Input) => Extra | Promise<Extra>,
  ): Guard<Caller, Extra> => ({
    name,
    identify: callerOf,
    callerName: nameOf,
    ownerOf: namedOwner,
    admit,
  });
  const actorOf = (caller: Caller, named: unknown): Actor => ({
    caller,
    ownerUserId: ownerOf(caller, named),
  });
  const changing =
    (find: Door) =>
    async (caller: Caller, { params, body, query }: Input) => {
      const actor = actorOf(caller, member(body, 'owner_user_id') ?? member(query, 'owner_user_id'));
      return { actor, asset: await find(caller, params['id'] ?? '') };
    };
  return {
    /** Creates something for an owner, whom a service caller names in the body. */
    asCreator: guarded(
      guard('caller', (caller, { body }) => ({ actor: actorOf(caller, member(body, 'owner_user_id')) })),
    ),
    /** Reads what belongs to an owner, whom a service caller names in the query. */
    asReader: guarded(
      guard('caller', (caller, { query }) => ({ actor: actorOf(caller, member(query, 'owner_user_id')) })),
    ),
    /** Reads one asset. */
    ownAsset: guarded(
      guard('owner', async (caller, { params }) => ({ asset: await findFor(caller, params['id'] ?? '') })),
    ),
    /** Changes one asset; a service caller names its owner in the body, or in the query where proxies drop bodies. */
    changingAsset: guarded(guard('owner', changing(findFor))),
    /** The same, of one in the trash too. */
    changingTrash: guarded(guard('owner', changing(findInTrashFor))),
  };
}

/** Users and services do not share their Idempotency-Keys. */
const nameOf = (caller: Caller): string => (caller.kind === 'user' ? `user ${caller.userId}` : 'service');

/** The owner whose request rate counts; a service call that reads one asset names none. */
function namedOwner(caller: Caller, { body, query }: Pick<Input, 'body' | 'query'>): string | undefined {
  if (caller.kind === 'user') return caller.userId;
  return parseUserId(member(body, 'owner_user_id') ?? member(query, 'owner_user_id'));
}

const member = (value: unknown, name: string): unknown => (value as Record<string, unknown> | null)?.[name];

/** A user owns what it writes, whatever else it says; a service has to say for whom. */
function ownerOf(caller: Caller, named: unknown): string {
  if (caller.kind === 'user') return caller.userId;
  const owner = parseUserId(named);
  if (owner === undefined)
    throw badRequest('owner_user_id is required: a service call names the owner, 1–255 characters', {
      field: 'owner_user_id',
    });
  return owner;
}
