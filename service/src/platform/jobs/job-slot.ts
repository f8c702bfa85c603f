// The slot of a fair queue that a run holds, for long work that gives it back before it is done.
import { isSlotWanted, type OwnedJob } from './job-order.ts';
import type { JobDatabase } from '../postgres/job-database.ts';
import type { Transaction } from '../postgres/database.ts';

export type JobSlot = {
  /** True while another owner, none of whose jobs runs, has one that could start. */
  isWanted(): Promise<boolean>;
  /**
   * Completes this run and sends the job again, behind the turns of other owners, in the caller's
   * transaction. The handler must then return.
   */
  giveBack(tx: Transaction): Promise<void>;
};

/** A running job; `owner` is undefined in queues that are not fair. */
type RunningJob = Pick<OwnedJob, 'queue'> & {
  readonly owner: string | undefined;
  /** Sends an equal job. */
  readonly sendAgain: (tx: Transaction) => Promise<unknown>;
  readonly complete: (tx: Transaction) => Promise<unknown>;
};

export const createJobSlot = (
  db: JobDatabase,
  { queue, owner, sendAgain, complete }: RunningJob,
): JobSlot => ({
  isWanted: async () => owner !== undefined && isSlotWanted(db, { queue, owner }),
  giveBack: async (tx) => {
    // In this order: the next priority is one below that of this run.
    await sendAgain(tx);
    await complete(tx);
  },
});
