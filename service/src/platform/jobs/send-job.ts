// Sends a job of an owner to its queue, behind as many jobs of others as of its own.
import type { PgBoss } from 'pg-boss';
import { currentTraceparent } from '../observability/tracing.ts';
import type { Transaction } from '../postgres/database.ts';
import { findNextPriority, type OwnedJob } from './job-order.ts';
import { type JobSettings, providerOptions } from './job-settings.ts';

const fairOptions = async (tx: Transaction, job: OwnedJob) => ({
  priority: await findNextPriority(tx, job),
  group: { id: job.owner },
});

/** Beside the members of the payload, so that a run continues the trace of what has sent its job. */
export type TracedPayload = { readonly traceparent?: string };

export const withTrace = (payload: object, traceparent = currentTraceparent()): object =>
  traceparent === undefined ? payload : { ...payload, traceparent };

export type JobSender = { readonly boss: PgBoss; readonly name: string; readonly job: JobSettings };
type SentJob = {
  readonly tx: Transaction;
  readonly owner: string;
  readonly payload: object;
  readonly startAfter?: Date | undefined;
  /** Default: of the current span. */
  readonly traceparent?: string | undefined;
};

export async function sendJob(
  { boss, name, job }: JobSender,
  { tx, owner, payload, startAfter, traceparent }: SentJob,
): Promise<void> {
  const fair = job.fair ? await fairOptions(tx, { queue: name, owner }) : {};
  const options = { ...fair, ...providerOptions(job, payload), ...(startAfter && { startAfter }) };
  await boss.send(name, withTrace(payload, traceparent), { ...options, db: tx as never });
}
