// Reports the progress of a run: one request at a time with the latest value. Errors do not stop the run.
import type { Rendition } from '../../assets/renditions.ts';
import { withoutSpans } from '../../platform/observability/tracing.ts';
import type { EncodingContext } from '../context.ts';
import type { EncoderReport } from '../encoder-report.ts';

type ReportedRun = {
  readonly head: Pick<EncoderReport, 'asset_id' | 'attempt' | 'run'>;
  readonly signal: AbortSignal;
  /** Called when the service responds that the run was superseded. */
  readonly onSuperseded: () => void;
};

type Progress = { readonly progress: number; readonly renditions: readonly Rendition[] };

const INTERVAL_MS = 1000;

export function createProgressReporter(
  { callback, log }: EncodingContext,
  { head, signal, onSuperseded }: ReportedRun,
) {
  let lastProgress = -1;
  let lastAt = 0;
  let pending: Promise<void> | undefined;
  const deliver = async ({ progress, renditions }: Progress) => {
    const report: EncoderReport = {
      ...head,
      status: 'processing',
      progress,
      ...(renditions.length > 0 && { renditions }),
    };
    const { processed } = await callback.deliver(JSON.stringify(report), signal);
    if (!processed) onSuperseded();
  };
  const send = (progress: Progress) => {
    lastProgress = progress.progress;
    lastAt = Date.now();
    pending = deliver(progress)
      .catch((error: Error) => {
        if (!signal.aborted)
          log.warn({ asset_id: head.asset_id, error: error.message }, 'the progress could not be reported');
      })
      .finally(() => {
        pending = undefined;
      });
  };
  return {
    start: () => send({ progress: 0, renditions: [] }),
    update(progress: number, renditions: readonly Rendition[]): void {
      const next = { progress: Math.floor(progress), renditions };
      if (!pending && next.progress > lastProgress && Date.now() - lastAt >= INTERVAL_MS)
        withoutSpans(() => send(next));
    },
    end: async () => {
      await pending;
    },
  };
}
