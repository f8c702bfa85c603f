// Job that delivers the final report of a run to the onprem webhook, with retries.
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import type { Callback } from '../callback.ts';

export const deliverReportJob =
  ({ callback }: { callback: Callback }) =>
  async ({ payload, signal }: JobRun<JobPayloads['deliver-report']>): Promise<void> => {
    await callback.deliver(payload.body, signal);
  };
