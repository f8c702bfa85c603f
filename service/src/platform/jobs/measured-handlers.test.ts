// Runs of jobs are counted by their result, and each end is reported.
import { expect, test } from 'vitest';
import { createMetrics } from '../observability/metrics.ts';
import { type EndedRun, measureHandlers } from './measured-handlers.ts';
import type { SlotRun } from './job-queue.ts';

type Payloads = { readonly copy: { readonly fails?: boolean } };

const runOf = (payload: Payloads['copy'], signal = new AbortController().signal) =>
  ({ payload, signal }) as SlotRun<Payloads['copy']>;

test('a run succeeds, fails, or is interrupted', async () => {
  const metrics = createMetrics();
  const ended: EndedRun[] = [];
  const handlers = measureHandlers<Payloads>(
    {
      copy: async ({ payload }) => {
        if (payload.fails) throw new Error('broken');
      },
    },
    { metrics, onEnd: (run) => ended.push(run) },
  );
  await handlers.copy(runOf({}));
  await expect(handlers.copy(runOf({ fails: true }))).rejects.toThrow('broken');
  await expect(handlers.copy(runOf({ fails: true }, AbortSignal.abort()))).rejects.toThrow('broken');
  const seconds = expect.any(Number);
  expect(ended).toEqual([
    { job: 'copy', payload: {}, result: 'succeeded', seconds },
    { job: 'copy', payload: { fails: true }, result: 'failed', seconds, error: new Error('broken') },
    { job: 'copy', payload: { fails: true }, result: 'interrupted', seconds },
  ]);
  const lines = (await metrics.render()).split('\n');
  expect(lines.filter((line) => line.startsWith('mediary_job_runs_total'))).toEqual([
    'mediary_job_runs_total{queue="copy",result="succeeded"} 1',
    'mediary_job_runs_total{queue="copy",result="failed"} 1',
    'mediary_job_runs_total{queue="copy",result="interrupted"} 1',
  ]);
  expect(lines).toContain('mediary_job_run_duration_seconds_count{queue="copy"} 3');
});
