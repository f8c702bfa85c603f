// Tells the service how far a run is: one report under way at a time, the newest word only, and none that stops the work.
import type { Rendition } from '../../assets/renditions.ts';
import type { Callback } from '../callback.ts';
import type { EncoderReport } from '../encoder-report.ts';

type Needs = {
  readonly head: Pick<EncoderReport, 'asset_id' | 'attempt' | 'try'>;
  readonly callback: Callback;
  readonly log: { warn(facts: object, message: string): void };
  readonly signal: AbortSignal;
  /** The service says that this run is no longer wanted. */
  readonly onOvertaken: () => void;
};

type Word = { readonly progress: number; readonly renditions: readonly Rendition[] };

const SPACING_MS = 1000;

export function createProgressReporter({ head, callback, log, signal, onOvertaken }: Needs) {
  let next: Word | undefined;
  let told = -1;
  let lastAt = 0;
  let underWay: Promise<void> | undefined;
  const deliver = async ({ progress, renditions }: Word) => {
    const report: EncoderReport = {
      ...head,
      status: 'processing',
      progress,
      ...(renditions.length > 0 && { renditions }),
    };
    const { processed } = await callback.deliver(JSON.stringify(report), signal);
    if (!processed) onOvertaken();
  };
  const send = (word: Word) => {
    told = word.progress;
    lastAt = Date.now();
    underWay = deliver(word)
      .catch((error: Error) => {
        if (!signal.aborted)
          log.warn({ asset_id: head.asset_id, error: error.message }, 'progress could not be told');
      })
      .finally(() => {
        underWay = undefined;
      });
  };
  return {
    begin: () => send({ progress: 0, renditions: [] }),
    tell(progress: number, renditions: readonly Rendition[]): void {
      next = { progress: Math.floor(progress), renditions };
      if (!underWay && next.progress > told && Date.now() - lastAt >= SPACING_MS) send(next);
    },
    end: async () => {
      await underWay;
    },
  };
}
