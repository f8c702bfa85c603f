// A fair semaphore shared by groups: each group has reserved slots, and the owners in all groups take turns.
import { ServiceError } from '../errors.ts';

export type SlotLimits = {
  /** Maximum number of slots of one owner; one slot of the group's share always remains for others. */
  readonly perOwner: number;
  /** Maximum number of requests of one owner that wait. */
  readonly maxWaiting: number;
  readonly waitMs: number;
};

/** Resolves with a function that releases the slot. Throws UNAVAILABLE (`busy`) when a limit is reached. */
export type AcquireSlot = (owner: string) => Promise<() => void>;

type FairSlots = {
  /** Add all groups before the first slot is acquired: each new group changes the shares of the others. */
  addGroup(limits: SlotLimits): AcquireSlot;
};

type Group = { readonly limits: SlotLimits; active: number };
type Owner = { readonly group: Group; active: number; readonly waiting: Set<() => void> };

const RETRY_AFTER_SECONDS = 2;

const isIdle = ({ active, waiting }: Owner): boolean => active === 0 && waiting.size === 0;

type State = {
  readonly slots: number;
  readonly groups: Group[];
  /** In round-robin order: the owner that was served last is at the end. */
  readonly owners: Map<string, Owner>;
};

export function openFairSlots(slots: number): FairSlots {
  const state: State = { slots, groups: [], owners: new Map() };
  return {
    addGroup(limits) {
      const group: Group = { limits, active: 0 };
      const index = state.groups.push(group);
      return (name) => acquire(state, group, `${index}:${name}`);
    },
  };
}

function acquire(state: State, group: Group, key: string): Promise<() => void> {
  const { owners } = state;
  const owner: Owner = owners.get(key) ?? { group, active: 0, waiting: new Set() };
  owners.set(key, owner);
  const { promise, resolve, reject } = Promise.withResolvers<() => void>();
  const start = () => {
    owner.waiting.delete(start);
    resolve(() => release(state, key, owner));
  };
  const giveUp = () => {
    owner.waiting.delete(start);
    if (isIdle(owner)) owners.delete(key);
    reject(busy());
  };
  owner.waiting.add(start);
  serve(state);
  // Requests start in their order, so the new one is among those that still wait.
  if (owner.waiting.size > group.limits.maxWaiting) giveUp();
  const { waitMs } = group.limits;
  const timer = Number.isFinite(waitMs) ? setTimeout(giveUp, waitMs) : undefined;
  return promise.finally(() => clearTimeout(timer));
}

function release(state: State, key: string, owner: Owner): void {
  owner.active -= 1;
  owner.group.active -= 1;
  if (isIdle(owner)) state.owners.delete(key);
  serve(state);
}

function serve(state: State): void {
  for (const [key, owner] of state.owners) {
    if (!canServe(state, owner)) continue;
    const [start] = owner.waiting;
    state.owners.delete(key);
    state.owners.set(key, owner);
    owner.active += 1;
    owner.group.active += 1;
    start?.();
    serve(state);
    return;
  }
}

function canServe({ slots, groups }: State, { group, active, waiting }: Owner): boolean {
  if (waiting.size === 0 || active >= maxPerOwner(slots, groups.length, group.limits)) return false;
  return freeSlotsFor(group, groups, slots) > 0;
}

/** An equal share per group, and one more share for which all groups compete. */
const reservedPerGroup = (slots: number, groups: number): number => Math.floor(slots / (groups + 1));

function maxPerOwner(slots: number, groups: number, { perOwner }: SlotLimits): number {
  const largestShare = slots - reservedPerGroup(slots, groups) * (groups - 1);
  return Math.min(perOwner, Math.max(1, largestShare - 1));
}

/** Free slots that are not reserved for other groups. */
function freeSlotsFor(group: Group, groups: readonly Group[], slots: number): number {
  const reserved = reservedPerGroup(slots, groups.length);
  return groups.reduce((free, other) => free - Math.max(other.active, other === group ? 0 : reserved), slots);
}

export const busy = (): ServiceError =>
  new ServiceError('UNAVAILABLE', 'The service is busy processing other files. Retry later.', {
    details: { reason: 'busy' },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
