// A fair semaphore over a fixed set of items: limits items per owner and serves waiting owners round-robin.
import { ServiceError } from '../errors.ts';

type FairSlots<T> = {
  /** Throws UNAVAILABLE with reason `busy` when the wait gets too long. */
  acquire(owner: string): Promise<T>;
  release(owner: string, item: T): void;
};

type FairSlotsOptions = {
  readonly perOwner: number;
  readonly waitMs: number;
};

type Waiting<T> = { readonly resolve: (item: T) => void };
type Owner<T> = { active: number; readonly waiting: Set<Waiting<T>> };

const RETRY_AFTER_SECONDS = 2;

export function openFairSlots<T>(items: readonly T[], { perOwner, waitMs }: FairSlotsOptions): FairSlots<T> {
  const free = [...items];
  /** In round-robin order: the owner that was served last is at the end. */
  const owners = new Map<string, Owner<T>>();

  function serve(): void {
    for (const [name, owner] of owners) {
      const [next] = owner.waiting;
      if (free.length === 0) return;
      if (!next || owner.active >= perOwner) continue;
      owner.waiting.delete(next);
      owner.active += 1;
      owners.delete(name);
      owners.set(name, owner);
      next.resolve(free.pop() as T); // Reuses the most recently released item, because its process is still running.
      serve();
      return;
    }
  }

  function deleteIfIdle(name: string, { active, waiting }: Owner<T>): void {
    if (active === 0 && waiting.size === 0) owners.delete(name);
  }

  return {
    async acquire(name) {
      const owner = owners.get(name) ?? { active: 0, waiting: new Set() };
      owners.set(name, owner);
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const waiting = { resolve };
      owner.waiting.add(waiting);
      const giveUp = () => {
        owner.waiting.delete(waiting);
        deleteIfIdle(name, owner);
        reject(busy());
      };
      const timer = Number.isFinite(waitMs) ? setTimeout(giveUp, waitMs) : undefined;
      serve();
      return promise.finally(() => clearTimeout(timer));
    },
    release(name, item) {
      free.push(item);
      const owner = owners.get(name);
      if (owner) {
        owner.active -= 1;
        deleteIfIdle(name, owner);
      }
      serve();
    },
  };
}

export const busy = (): ServiceError =>
  new ServiceError('UNAVAILABLE', 'The service is busy processing other files. Retry later.', {
    details: { reason: 'busy' },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
