// Finds named service keys in memory: all of them are read again every few seconds while keys are used.
import type { ServiceScope } from '@mediary/contract/enums';
import type { Database } from '../../platform/postgres/database.ts';
import type { FindServiceKey } from '../caller.ts';
import type { AuthContext } from '../context.ts';
import { digestOfKey, type ServiceKeyGrant } from './service-key-grant.ts';
import { listUsableKeys, recordKeyUse, type ServiceKeyRow } from './service-keys.sql.ts';

/** Limits the memory and the time that reading all keys takes. */
export const MAX_SERVICE_KEYS = 1000;
/** A revoked key works no longer than this in other processes. */
const MAX_AGE_MS = 3000;
/** Wrong keys cost at most one query in this time, however many arrive. */
const MIN_AGE_MS = 1000;
const USE_EVERY_MS = 60_000;

type Entry = { readonly row: ServiceKeyRow; readonly isPrevious: boolean };
type Snapshot = { readonly entries: ReadonlyMap<string, Entry>; readonly at: number };

export type ServiceKeyLookup = {
  readonly find: FindServiceKey;
  /** Undefined for a key that was revoked or has expired. */
  readonly findById: (id: string) => Promise<ServiceKeyGrant | undefined>;
  /** After a change by this process, which takes effect at once. */
  readonly invalidate: () => void;
};

/** `elapsedMs`: milliseconds of a monotonic clock. */
export function createServiceKeyLookup(
  { db, log, now }: Pick<AuthContext, 'db' | 'log' | 'now'>,
  elapsedMs: () => number,
): ServiceKeyLookup {
  let reading: Promise<Snapshot> | undefined;
  const usedAt = new Map<string, number>();

  /** The latest snapshot if it was read in the last `maxAgeMs`, or else a new one. */
  const read = async (maxAgeMs: number): Promise<Snapshot> => {
    const current = reading;
    const latest = await current;
    if (latest && elapsedMs() - latest.at < maxAgeMs) return latest;
    // Another caller may have started to read while this one waited.
    return reading && reading !== current ? reading : start();
  };
  const start = (): Promise<Snapshot> => {
    const started = readSnapshot(db, elapsedMs());
    reading = started;
    started.catch(() => {
      if (reading === started) reading = undefined;
    });
    return started;
  };
  const recordUse = ({ id }: ServiceKeyRow): void => {
    if (elapsedMs() - (usedAt.get(id) ?? Number.NEGATIVE_INFINITY) < USE_EVERY_MS) return;
    usedAt.set(id, elapsedMs());
    recordKeyUse(db, id, now()).catch((error: unknown) => {
      log.warn({ err: error }, 'the use of a service key was not recorded');
    });
  };
  return {
    async find(key) {
      const digest = digestOfKey(key);
      const entry =
        (await read(MAX_AGE_MS)).entries.get(digest) ?? (await read(MIN_AGE_MS)).entries.get(digest);
      const grant = entry && toGrant(entry, now());
      if (entry && typeof grant === 'object') recordUse(entry.row);
      return grant;
    },
    async findById(id) {
      const { entries } = await read(MAX_AGE_MS);
      const entry = [...entries.values()].find(({ row, isPrevious }) => row.id === id && !isPrevious);
      const grant = entry && toGrant(entry, now());
      return grant === 'expired' ? undefined : grant;
    },
    invalidate: () => {
      reading = undefined;
    },
  };
}

async function readSnapshot(db: Database, at: number): Promise<Snapshot> {
  const entries = new Map<string, Entry>();
  for (const row of await listUsableKeys(db, MAX_SERVICE_KEYS)) {
    if (row.previous_hash !== null) entries.set(row.previous_hash, { row, isPrevious: true });
    entries.set(row.key_hash, { row, isPrevious: false });
  }
  return { entries, at };
}

function toGrant({ row, isPrevious }: Entry, now: Date): ServiceKeyGrant | 'expired' {
  const ends = [row.expires_at, isPrevious ? row.previous_expires_at : null];
  if (ends.some((end) => end !== null && end <= now)) return 'expired';
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes as ServiceScope[],
    ownerPrefixes: row.owner_prefixes,
  };
}
