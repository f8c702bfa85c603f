// Migrates the schema at the start, and waits for a database that is not available yet, as during a failover.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../observability/logger.ts';
import type { Connection } from './connection.ts';
import { isDatabaseUnavailable } from './database-errors.ts';
import { assertMigrated, migrate } from './migrate.ts';

type StartOptions = {
  readonly timeoutSeconds: number;
  /** False: only checks that another role has migrated. */
  readonly isMigrating: boolean;
  readonly log: Pick<Logger, 'info' | 'warn'>;
};

export async function migrateAtStart(
  connection: Connection,
  { timeoutSeconds, isMigrating, log }: StartOptions,
): Promise<void> {
  const onWait = (message: string) => log.info({}, message);
  const step = () => (isMigrating ? migrate(connection, { onWait }) : check(connection));
  const applied = await retryUntilAvailable(step, {
    timeoutMs: timeoutSeconds * 1000,
    onRetry: (error, delayMs) =>
      log.warn({ err: error, retry_ms: delayMs }, 'the database is not available yet; the start continues'),
  });
  if (applied.length > 0) log.info({ migrations: applied.length }, 'database migrated');
}

async function check(connection: Connection): Promise<string[]> {
  await assertMigrated(connection);
  return [];
}

type StartRetries = {
  readonly timeoutMs: number;
  /** Called before each pause. */
  readonly onRetry: (error: unknown, delayMs: number) => void;
  readonly now?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
};

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5000;

/**
 * Throws other errors at once, because they do not end by themselves: a wrong password, a missing right, a
 * database of a newer release. Throws with the last error as cause when the time is over.
 */
export async function retryUntilAvailable<T>(
  step: () => Promise<T>,
  { timeoutMs, onRetry, now = Date.now, pause = delay }: StartRetries,
): Promise<T> {
  const deadline = now() + timeoutMs;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, MAX_DELAY_MS)) {
    try {
      return await step();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      if (now() + delayMs >= deadline) throw databaseMissing(timeoutMs, error);
      onRetry(error, delayMs);
      await pause(delayMs);
    }
  }
}

const databaseMissing = (timeoutMs: number, cause: unknown): Error =>
  new Error(
    `The database did not accept a connection within ${Math.round(timeoutMs / 1000)} s (START_TIMEOUT_S). ` +
      'Check DATABASE_URL and the server.',
    { cause },
  );
