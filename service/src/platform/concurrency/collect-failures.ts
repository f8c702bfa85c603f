// Works on items one after the other, each apart from the failures of the others.
import { isUnavailable } from '../http/errors.ts';

/** Returns the errors. A database that is down ends the run: it would fail every further item. */
export async function collectFailures<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      failures.push(error);
    }
  }
  return failures;
}

/** `read` returns the `size` items that follow `after`, in a fixed order; a shorter page is the last one. */
type Pages<T extends P, P> = {
  readonly start: P;
  readonly size: number;
  readonly read: (after: P) => Promise<readonly T[]>;
};

/** As `collectFailures`, for a list that is read in pages. Items that fail are not read again. */
export async function collectFailuresOfPages<P, T extends P>(
  { start, size, read }: Pages<T, P>,
  work: (item: T) => Promise<unknown>,
): Promise<{ readonly count: number; readonly failures: readonly unknown[] }> {
  const failures: unknown[] = [];
  let count = 0;
  let after = start;
  for (;;) {
    const items = await read(after);
    failures.push(...(await collectFailures(items, work)));
    count += items.length;
    const last = items[size - 1];
    if (!last) return { count, failures };
    after = last;
  }
}
