// Sends a job of an owner to its queue, behind as many jobs of others as of its own.
import type { PgBoss } from 'pg-boss';
import type { Transaction } from '../postgres/database.ts';
import { findNextPriority, type OwnedJob } from './job-order.ts';
import { type JobSettings, providerOptions } from './job-settings.ts';

const fairOptions = async (tx: Transaction, job: OwnedJob) => ({
  priority: await findNextPriority(tx, job),
  group: { id: job.owner },
});

export type JobSender = { readonly boss: PgBoss; readonly name: string; readonly job: JobSettings };
type SentJob = {
  readonly tx: Transaction;
  readonly owner: string;
  readonly payload: object;
  readonly startAfter?: Date | undefined;
};

export async function sendJob(
  { boss, name, job }: JobSender,
  { tx, owner, payload, startAfter }: SentJob,
): Promise<void> {
  const fair = job.fair ? await fairOptions(tx, { queue: name, owner }) : {};
  const options = { ...fair, ...providerOptions(job, payload), ...(startAfter && { startAfter }) };
  await boss.send(name, payload, { ...options, db: tx as never });
}
