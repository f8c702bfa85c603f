// Works on items one after the other, each apart from the failures of the others.
import { isUnavailable } from '../errors.ts';

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
