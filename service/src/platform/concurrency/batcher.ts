// Joins pieces of work of one kind that come at once: under load each costs its share of a round trip, alone none waits.
import { isUnavailable } from '../errors.ts';

type Work<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;
type Waiting<Item, Result> = {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

/** `atOnce`: batches under way; what comes meanwhile waits for the next one, of at most `most` pieces that together weigh no more than `heaviest`. */
export type BatchLimits<Item> = {
  readonly atOnce: number;
  readonly most: number;
  /** Bytes, say; a piece that is heavier by itself goes alone. */
  readonly weigh?: (item: Item) => number;
  readonly heaviest?: number;
};

/** `work` answers in the order of its items; it starts after the item came, so that what was stored before is seen. */
export function createBatcher<Item, Result>(
  work: Work<Item, Result>,
  limits: BatchLimits<Item>,
): (item: Item) => Promise<Result> {
  const queue: Waiting<Item, Result>[] = [];
  let underWay = 0;
  const startBatches = () => {
    while (underWay < limits.atOnce && queue.length > 0) {
      underWay += 1;
      void settle(work, queue.splice(0, countOf(queue, limits)), queue).finally(() => {
        underWay -= 1;
        startBatches();
      });
    }
  };
  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      // Those who come in the same turn of the event loop travel together.
      if (queue.length === 1) setImmediate(startBatches);
    });
}

/** How many of those who wait go next: one at least. */
function countOf<Item, Result>(
  queue: readonly Waiting<Item, Result>[],
  { most, weigh = () => 0, heaviest = 0 }: BatchLimits<Item>,
): number {
  let weight = 0;
  const tooHeavy = queue.findIndex(({ item }) => {
    weight += weigh(item);
    return weight > heaviest;
  });
  return Math.min(most, tooHeavy < 0 ? queue.length : Math.max(1, tooHeavy));
}

/** A batch that failed by one of its items is done again piece by piece: nobody suffers for another's fault. */
async function settle<Item, Result>(
  work: Work<Item, Result>,
  batch: readonly Waiting<Item, Result>[],
  behind: Waiting<Item, Result>[] = [],
): Promise<void> {
  try {
    const results = await work(batch.map(({ item }) => item));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
  } catch (error) {
    // Whoever cannot be reached cannot be reached for any of them, nor for those who wait behind: to ask again for each would make them wait twice.
    const failed = isUnavailable(error) ? [...batch, ...behind.splice(0)] : batch;
    if (batch.length > 1 && !isUnavailable(error))
      await Promise.all(batch.map((piece) => settle(work, [piece])));
    else for (const { reject } of failed) reject(error);
  }
}
