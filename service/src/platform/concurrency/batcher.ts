// Batches concurrent requests of one kind into one call; without load, a request is not delayed.
import { isUnavailable } from '../http/errors.ts';
import { captureScope, runInScope, type TraceScope } from '../observability/tracing.ts';

type BatchWork<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;
type QueuedItem<Item, Result> = {
  readonly item: Item;
  readonly scope: TraceScope | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/** At most `concurrency` batches run; further items wait for the next batch. */
export type BatchLimits<Item> = {
  readonly concurrency: number;
  readonly maxItems: number;
  /** For example the size in bytes; an item above `maxWeight` gets a batch of its own. */
  readonly weightOf?: (item: Item) => number;
  readonly maxWeight?: number;
};

/** Two concurrent statements keep the database busy while results are read; small batches fail fast. */
export const STATEMENT_LIMITS = { concurrency: 2, maxItems: 100 } as const;

/**
 * `work` returns results in the order of its items. It starts after the item was added, so it sees earlier
 * writes.
 */
export function createBatcher<Item, Result>(
  work: BatchWork<Item, Result>,
  limits: BatchLimits<Item>,
): (item: Item) => Promise<Result> {
  const queue: QueuedItem<Item, Result>[] = [];
  let underWay = 0;
  const startBatches = () => {
    while (underWay < limits.concurrency && queue.length > 0) {
      underWay += 1;
      void runBatch(work, queue.splice(0, batchSize(queue, limits)), queue).finally(() => {
        underWay -= 1;
        startBatches();
      });
    }
  };
  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, scope: captureScope(), resolve, reject });
      // Items that are added in the same iteration of the event loop share a batch.
      if (queue.length === 1) setImmediate(startBatches);
    });
}

/** Size of the next batch: at least one item. */
function batchSize<Item, Result>(
  queue: readonly QueuedItem<Item, Result>[],
  { maxItems, weightOf = () => 0, maxWeight = 0 }: BatchLimits<Item>,
): number {
  let weight = 0;
  const tooHeavy = queue.findIndex(({ item }) => {
    weight += weightOf(item);
    return weight > maxWeight;
  });
  return Math.min(maxItems, tooHeavy < 0 ? queue.length : Math.max(1, tooHeavy));
}

/** Retries a failed batch item by item, so that one invalid item does not fail the others. */
async function runBatch<Item, Result>(
  work: BatchWork<Item, Result>,
  batch: readonly QueuedItem<Item, Result>[],
  waiting: QueuedItem<Item, Result>[] = [],
): Promise<void> {
  try {
    // An earlier batch may start this one; its spans belong to the first item.
    const results = await runInScope(batch[0]?.scope, () => work(batch.map(({ item }) => item)));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
  } catch (error) {
    // An unavailable database fails every item, also the waiting ones: a retry would only double their delay.
    const failed = isUnavailable(error) ? [...batch, ...waiting.splice(0)] : batch;
    if (batch.length > 1 && !isUnavailable(error))
      await Promise.all(batch.map((entry) => runBatch(work, [entry])));
    else for (const { reject } of failed) reject(error);
  }
}
