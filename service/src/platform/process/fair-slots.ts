// A fair semaphore shared by groups: each group has reserved slots, and the owners in all groups take turns.
import { maxHeldSlots } from '../concurrency/held-work.ts';
import { busy } from '../http/errors.ts';

export type SlotLimits = {
  /** Maximum number of slots of one owner; one slot of the group's share always remains for others. */
  readonly perOwner: number;
  /** Maximum number of slots of one item, such as one file; default: as `perOwner`. */
  readonly perItem?: number;
  /** Maximum number of requests of one item that wait. */
  readonly maxWaiting: number;
  readonly waitMs: number;
};

/**
 * Resolves with a function that releases the slot. Owners take turns, and so do the items of an owner.
 * Throws UNAVAILABLE (`busy`) when a limit is reached.
 */
export type AcquireSlot = (owner: string, item?: string) => Promise<() => void>;

type FairSlots = {
  /** Add all groups before the first slot is acquired: each new group changes the shares of the others. */
  addGroup(limits: SlotLimits): AcquireSlot;
};

type Group = { readonly limits: SlotLimits; active: number };
type Item = { active: number; readonly waiting: Set<() => void> };
/** `items`: in round-robin order. */
type Owner = { readonly group: Group; active: number; readonly items: Map<string, Item> };

const isIdle = ({ active, waiting }: Item): boolean => active === 0 && waiting.size === 0;

type SlotState = {
  readonly slots: number;
  readonly groups: Group[];
  /** In round-robin order: the owner that was served last is at the end. */
  readonly owners: Map<string, Owner>;
};

export function openFairSlots(slots: number): FairSlots {
  const state: SlotState = { slots, groups: [], owners: new Map() };
  return {
    addGroup(limits) {
      const group: Group = { limits, active: 0 };
      const index = state.groups.push(group);
      return (owner, item = '') => acquire(state, group, { ownerKey: `${index}:${owner}`, item });
    },
  };
}

type SlotRequest = { readonly ownerKey: string; readonly item: string };

function acquire(state: SlotState, group: Group, request: SlotRequest): Promise<() => void> {
  const owner = getOrAdd(
    state.owners,
    request.ownerKey,
    (): Owner => ({ group, active: 0, items: new Map() }),
  );
  const item = getOrAdd(owner.items, request.item, (): Item => ({ active: 0, waiting: new Set() }));
  const { promise, resolve, reject } = Promise.withResolvers<() => void>();
  const start = () => {
    item.waiting.delete(start);
    resolve(() => release(state, request));
  };
  const giveUp = () => {
    item.waiting.delete(start);
    removeIdle(state, request);
    reject(busy());
  };
  item.waiting.add(start);
  serve(state);
  // Requests start in their order, so the new one is among those that still wait.
  if (item.waiting.size > group.limits.maxWaiting) giveUp();
  const { waitMs } = group.limits;
  const timer = Number.isFinite(waitMs) ? setTimeout(giveUp, waitMs) : undefined;
  return promise.finally(() => clearTimeout(timer));
}

function getOrAdd<T>(map: Map<string, T>, key: string, create: () => T): T {
  const found = map.get(key) ?? create();
  map.set(key, found);
  return found;
}

function release(state: SlotState, request: SlotRequest): void {
  const owner = state.owners.get(request.ownerKey);
  const item = owner?.items.get(request.item);
  if (!owner || !item) throw new Error('a slot is released twice');
  item.active -= 1;
  owner.active -= 1;
  owner.group.active -= 1;
  removeIdle(state, request);
  serve(state);
}

function removeIdle({ owners }: SlotState, { ownerKey, item: itemKey }: SlotRequest): void {
  const owner = owners.get(ownerKey);
  const item = owner?.items.get(itemKey);
  if (item && isIdle(item)) owner?.items.delete(itemKey);
  if (owner?.items.size === 0) owners.delete(ownerKey);
}

function serve(state: SlotState): void {
  for (const [key, owner] of state.owners) {
    const next = canServe(state, owner) ? findNext(owner) : undefined;
    if (!next) continue;
    const { itemKey, item } = next;
    moveToEnd(state.owners, key, owner);
    moveToEnd(owner.items, itemKey, item);
    item.active += 1;
    owner.active += 1;
    owner.group.active += 1;
    const [start] = item.waiting;
    start?.();
    serve(state);
    return;
  }
}

function moveToEnd<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
}

function canServe({ slots, groups }: SlotState, { group, active }: Owner): boolean {
  if (active >= maxPerOwner(slots, groups.length, group.limits)) return false;
  return freeSlotsFor(group, groups, slots) > 0;
}

/** The first item that waits for a slot and may have one. */
function findNext({ group, items }: Owner): { itemKey: string; item: Item } | undefined {
  const { perOwner, perItem = perOwner } = group.limits;
  for (const [itemKey, item] of items)
    if (item.waiting.size > 0 && item.active < perItem) return { itemKey, item };
  return undefined;
}

/** An equal share per group, and one more share for which all groups compete. */
const reservedPerGroup = (slots: number, groups: number): number => Math.floor(slots / (groups + 1));

function maxPerOwner(slots: number, groups: number, { perOwner }: SlotLimits): number {
  const largestShare = slots - reservedPerGroup(slots, groups) * (groups - 1);
  return Math.min(perOwner, maxHeldSlots(largestShare));
}

/** Free slots that are not reserved for other groups. */
function freeSlotsFor(group: Group, groups: readonly Group[], slots: number): number {
  const reserved = reservedPerGroup(slots, groups.length);
  return groups.reduce((free, other) => free - Math.max(other.active, other === group ? 0 : reserved), slots);
}
