// Changes many assets of a caller in one request, each on its own (contract B2).
import type { BatchRequest, BatchResult } from '@mediary/contract/schemas/batches';
import { MAX_TAGS } from '@mediary/contract/schemas/common';
import { type Actor, toActorData } from '../assets/asset-event.ts';
import type { Asset } from '../assets/asset.ts';
import { assertTextLimits } from '../assets/text-limits.ts';
import { badRequest, isUnavailable, ServiceError } from '../platform/http/errors.ts';
import { type Edit, editMembers } from './asset-edits.ts';
import type { LibraryContext } from './context.ts';
import { deleteAsset, restoreAsset } from './trash.ts';

type Item = BatchResult['items'][number];
type Change = (id: string) => Promise<unknown>;

/** A request holds few connections so; what runs at the same time shares statements. */
const AT_A_TIME = 10;

/** Throws BAD_REQUEST for members that do not fit the action. The failure of one asset is in its item. */
export async function changeAssets(
  ctx: LibraryContext,
  actor: Actor,
  request: BatchRequest,
): Promise<BatchResult> {
  assertMembers(request);
  const change = toChange(ctx, actor, request);
  const ids = [...new Set(request.ids)];
  const toItem = async (id: string): Promise<Item> => {
    try {
      // The request itself counts for the first one.
      if (id !== ids[0]) await ctx.callerLimits.limitOwner(actor.ownerUserId);
      await change(id);
      return { id, error: null };
    } catch (error) {
      return { id, error: toBatchError(error) };
    }
  };
  const items: Item[] = [];
  for (let first = 0; first < ids.length; first += AT_A_TIME)
    items.push(...(await Promise.all(ids.slice(first, first + AT_A_TIME).map(toItem))));
  return { items, failed_count: items.filter(({ error }) => error !== null).length };
}

/** The owner can repeat the request: the service changes assets that the rate limit left out. */
export const isFinalResult = ({ items }: BatchResult): boolean =>
  items.every(({ error }) => error?.error_code !== 'RATE_LIMITED');

/** Faults and outages of the service end the request, which can be repeated. */
function toBatchError(error: unknown): Item['error'] {
  if (!(error instanceof ServiceError) || isUnavailable(error)) throw error;
  return { error_code: error.code, message: error.message, details: error.details };
}

const UPDATE_MEMBERS = ['add_tags', 'remove_tags', 'visibility'] as const;

function assertMembers(request: BatchRequest): void {
  assertTextLimits({ add_tags: request.add_tags, remove_tags: request.remove_tags });
  const given = UPDATE_MEMBERS.filter((name) => request[name] !== undefined);
  if (request.action === 'update' && given.length === 0)
    throw badRequest(`action update needs at least one of ${UPDATE_MEMBERS.join(', ')}`, {
      field: 'action',
      allowed: UPDATE_MEMBERS,
    });
  if (request.action !== 'update' && given[0] !== undefined)
    throw badRequest(`${given[0]} is for action update, not for ${request.action}`, { field: given[0] });
}

function toChange(ctx: LibraryContext, actor: Actor, request: BatchRequest): Change {
  const { findAssetForCaller, findTrashedAssetForCaller } = ctx.lifecycle;
  const dataOf = (asset: Asset) => toActorData(actor, asset);
  const remove =
    (isPermanent: boolean): Change =>
    async (id) => {
      const asset = await findTrashedAssetForCaller(actor.caller, id);
      return deleteAsset(ctx, asset, { isPermanent, ifMatch: undefined, actorData: dataOf(asset) });
    };
  const changes: Readonly<Record<BatchRequest['action'], Change>> = {
    update: async (id) => {
      const asset = await findAssetForCaller(actor.caller, id);
      return editMembers(ctx, asset, {
        toEdit: (seen) => findEdit(seen, request),
        ifMatch: undefined,
        actorData: dataOf(asset),
      });
    },
    trash: remove(false),
    delete: remove(true),
    restore: async (id) => {
      const asset = await findTrashedAssetForCaller(actor.caller, id);
      return restoreAsset(ctx, asset, dataOf(asset));
    },
  };
  return changes[request.action];
}

/** Undefined if the asset is as wanted. Throws BAD_REQUEST if it would have too many tags. */
function findEdit(
  seen: Asset,
  { add_tags = [], remove_tags = [], visibility }: BatchRequest,
): Edit | undefined {
  const tags = [...new Set([...seen.tags, ...add_tags])].filter((tag) => !remove_tags.includes(tag));
  if (tags.length > Math.max(MAX_TAGS, seen.tags.length))
    throw badRequest(`The asset would have ${tags.length} tags, and may have ${MAX_TAGS}.`, {
      field: 'add_tags',
      limit: MAX_TAGS,
    });
  const edit: Edit = {
    ...(isSameList(tags, seen.tags) ? {} : { tags }),
    ...(visibility === undefined || visibility === seen.visibility ? {} : { visibility }),
  };
  return Object.keys(edit).length === 0 ? undefined : edit;
}

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, index) => text === other[index]);
