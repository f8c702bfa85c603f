// Handles the items of a migration, a few at a time, and reports the result of each.
import { MediaryError } from '@mediary/client';
import type { CommandContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { toExitCode } from '../failure.ts';
import { toPlain } from '../text.ts';
import type { ItemReport } from './item-report.ts';
import { toReport } from './move-item.ts';
import type { SourceItem, SourceName } from './source.ts';

type ItemSet = {
  readonly flags: { readonly from: SourceName; readonly concurrency: number };
  readonly items: readonly SourceItem[];
  /** Whether the items take no time. */
  readonly isQuiet?: boolean;
};
type Finding = Parameters<typeof toReport>[2];

/** A failure of an item is its result. Lost credentials and connections end the command. */
export async function reportEach(
  { output, signal }: CommandContext,
  { flags, items, isQuiet = false }: ItemSet,
  handle: (item: SourceItem) => Promise<Finding>,
): Promise<ItemReport[]> {
  const reports: ItemReport[] = [];
  let [count, isStopped] = [0, false];
  const queue = items.entries();
  const handleNext = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (isStopped) return;
      const finding = await handle(item).catch((error: unknown) => {
        isStopped = isGeneral(error, signal);
        if (isStopped) throw error;
        return toFinding(error);
      });
      const report = toReport(flags.from, item, finding);
      reports[index] = report;
      count += 1;
      if (!isQuiet)
        output.note(`${count} of ${items.length}: ${toPlain(report.external_id)} ${describeResult(report)}`);
    }
  };
  const length = Math.min(flags.concurrency, items.length);
  const workers = await Promise.allSettled(Array.from({ length }, handleNext));
  const rejected = workers.find((worker) => worker.status === 'rejected');
  if (!rejected) return reports;
  output.note('The same command continues.');
  throw rejected.reason;
}

/** The next items would fail for the same cause. */
function isGeneral(error: unknown, signal: AbortSignal): boolean {
  const code = toExitCode(error);
  const isOfService = error instanceof MediaryError;
  return signal.aborted || (isOfService && (code === EXIT.auth || code === EXIT.unreachable));
}

const toFinding = (error: unknown): Finding => ({
  asset_id: null,
  result: 'failed',
  reason: error instanceof Error ? error.message : String(error),
});

const describeResult = ({ result, asset_id: id, reason }: ItemReport): string =>
  [result.replace('_', ' '), id, reason && `(${toPlain(reason)})`].filter(Boolean).join(' ');
