// Job that deletes the files of a run that may not publish. Separate from the encode job, because deleting thousands of files is slow.
import type { JobPayloads } from '../../jobs.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { renditionPrefix } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';

export const removeRunFilesJob =
  ({ store }: { store: ObjectStore }) =>
  async ({ payload: { assetId, folder } }: JobRun<JobPayloads['remove-run-files']>): Promise<void> => {
    await store.removeAll(renditionPrefix(assetId, folder));
  };
