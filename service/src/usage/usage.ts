// Quotas of owners, enforced by the database in the statement that would exceed them, so they are exact.
import type { Queries } from '../platform/postgres/database.ts';
import { findRaisedDetail } from '../platform/postgres/database-errors.ts';
import type { UsageContext } from './context.ts';
import { type ByteQuota, QUOTA_FIELDS, quotaExceeded, type QuotaExcess, type QuotaField } from './quota.ts';
import {
  findByteUsage,
  findUsage,
  setOverrides,
  trackOwner,
  untrackOwner,
  upsertDefaultLimits,
} from './usage.sql.ts';

type Amounts = Readonly<Record<QuotaField, number>>;
/** Null: no limit. */
export type UsageLimits = Readonly<Record<QuotaField, number | null>>;
export type OwnerUsage = {
  readonly usage: Amounts;
  /** Bytes of open uploads, also those that their assets announced. `usage.bytes` includes them. */
  readonly uploading: number;
  /** The effective limits: the owner's own, otherwise the settings. */
  readonly limits: UsageLimits;
  readonly overrides: Partial<UsageLimits>;
};

/** Raised by the triggers of the migrations. */
const NOT_TRACKED = 'MQ001';
const EXCEEDED = 'MQ002';
/** An operator may stop tracking the owner between two attempts. */
const MAX_ATTEMPTS = 3;

/** Runs work that may increase an owner's usage. Beyond a limit it stores nothing; the error has numbers. */
export async function underQuota<T>(
  { db }: UsageContext,
  ownerUserId: string,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const excess = findRaisedDetail(error, EXCEEDED);
      if (excess !== undefined) throw quotaExceeded(JSON.parse(excess) as QuotaExcess);
      if (findRaisedDetail(error, NOT_TRACKED) === undefined || attempt === MAX_ATTEMPTS) throw error;
      await trackOwner(db, ownerUserId);
    }
  }
}

/** The usage and the effective limits of an owner. */
export const getOwnerUsage = ({ db }: UsageContext, ownerUserId: string): Promise<OwnerUsage> =>
  readUsage(db, ownerUserId);

async function readUsage(db: Queries, ownerUserId: string): Promise<OwnerUsage> {
  const row = await findUsage(db, ownerUserId);
  if (!row) throw new Error('the usage of an owner has no row');
  return {
    usage: { assets: row.assets, bytes: row.bytes, pending: row.pending },
    uploading: row.uploading,
    limits: { assets: row.max_assets, bytes: row.max_bytes, pending: row.max_pending },
    overrides: row.overrides as Partial<UsageLimits>,
  };
}

/** Byte quota for an upload of unknown size; undefined when no limit applies. */
export async function findByteQuota(
  { db }: UsageContext,
  ownerUserId: string,
): Promise<ByteQuota | undefined> {
  const row = await findByteUsage(db, ownerUserId);
  if (row?.max_bytes === null || row === undefined) return undefined;
  const used = row.bytes ?? (await readUsage(db, ownerUserId)).usage.bytes;
  return { limit: row.max_bytes, used };
}

/** Replaces all limits of an owner: null means no limit, an omitted limit uses the setting. */
export async function setLimits(
  { db }: UsageContext,
  ownerUserId: string,
  overrides: Partial<UsageLimits>,
): Promise<OwnerUsage> {
  return db.transaction(async (tx) => {
    await trackOwner(tx, ownerUserId);
    await setOverrides(tx, ownerUserId, overrides);
    return readUsage(tx, ownerUserId);
  });
}

/** Deletes the limits of an owner, so that the settings apply. */
export async function clearLimits({ db }: UsageContext, ownerUserId: string): Promise<OwnerUsage> {
  await untrackOwner(db, ownerUserId);
  return readUsage(db, ownerUserId);
}

/** Makes the settings of this process the limits of all processes, also of workers. */
export async function recordDefaultLimits(
  { db }: UsageContext,
  limits: Readonly<Record<QuotaField, number | undefined>>,
): Promise<void> {
  const values = QUOTA_FIELDS.map((field) => limits[field] ?? null);
  await upsertDefaultLimits(db, QUOTA_FIELDS, values);
}
