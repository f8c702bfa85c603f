// Prepares the writes of decisions, and stores them with the jobs that follow, in one transaction.
import type { Asset } from '../assets/asset.ts';
import { currentTraceparent } from '../platform/observability/tracing.ts';
import type { Transaction } from '../platform/postgres/database.ts';
import type { LifecycleContext } from './context.ts';
import type { AssetWrite, PendingWrite } from './decisions/change.ts';
import { findEndedReferences } from './decisions/stored-references.ts';
import { updateAssets } from './store.sql.ts';

/** A decision on an asset that was just read. */
export type SeenChange = Pick<PendingWrite, 'seen' | 'decision'>;

export function toPendingWrite(
  { seen, decision }: SeenChange,
  { graceDays, now }: { readonly graceDays: number; readonly now: Date },
): PendingWrite {
  const isDeferred = decision.removesObjects || (graceDays > 0 && !decision.isErasure);
  const keys = isDeferred ? findEndedReferences(seen, { ...seen, ...decision.set }) : [];
  return { seen, decision, now, removals: { keys, graceDays }, traceparent: currentTraceparent() };
}

type WriteContext = Pick<LifecycleContext, 'db'> & {
  readonly jobs: Pick<LifecycleContext['jobs'], 'sendFor'>;
};

/** An asset is undefined if its revision differs. */
export const updateWithJobs = (
  { db, jobs }: WriteContext,
  writes: readonly PendingWrite[],
): Promise<(Asset | undefined)[]> => db.transaction((tx) => storeWithJobs(tx, jobs, writes));

/** Stores all writes or none: undefined if the revision of an asset differs. */
export const updateTogether = (
  { db, jobs }: WriteContext,
  writes: readonly PendingWrite[],
): Promise<Asset[] | undefined> =>
  db
    .transaction(async (tx) => {
      const stored = await storeWithJobs(tx, jobs, writes);
      if (stored.includes(undefined)) throw ASSET_CHANGED;
      return stored as Asset[];
    })
    .catch((error: unknown) => {
      if (error !== ASSET_CHANGED) throw error;
      return undefined;
    });

/** Rolls the transaction back. */
const ASSET_CHANGED = new Error('an asset has changed since it was read');

/** Sends jobs ordered by queue and owner to avoid deadlocks: a fair queue locks an owner until the commit. */
async function storeWithJobs(
  tx: Transaction,
  jobs: WriteContext['jobs'],
  writes: readonly PendingWrite[],
): Promise<(Asset | undefined)[]> {
  const stored = await updateAssets(tx, writes);
  const due = writes.flatMap(({ seen, decision, traceparent }, index) =>
    stored[index] ? decision.jobs.map((job) => ({ owner: seen.owner_user_id, job, traceparent })) : [],
  );
  for (const { owner, job, traceparent } of due.sort(byQueueAndOwner))
    await jobs.sendFor(tx, owner, { ...job, traceparent } as never);
  return stored;
}

type DueJob = { readonly owner: string; readonly job: AssetWrite['jobs'][number] };

const byQueueAndOwner = (a: DueJob, b: DueJob): number =>
  compare(a.job.name, b.job.name) || compare(providerOf(a), providerOf(b)) || compare(a.owner, b.owner);
/** Each provider has a queue of its own. */
const providerOf = ({ job: { payload } }: DueJob): string => ('provider' in payload ? payload.provider : '');
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
