// Backs up the embedded database while the service runs: a snapshot each BACKUP_EVERY_H, its log more often.
import { setTimeout as delay } from 'node:timers/promises';
import { writeArchived } from '@mediary/embedded-postgres/archived-log';
import { archiveLog, dropLog, keepLog } from '@mediary/embedded-postgres/log-archive';
import type { Config } from '../../config.ts';
import { waitAtMost } from '../../platform/concurrency/in-flight.ts';
import type { Logger } from '../../platform/observability/logger.ts';
import type { Metrics } from '../../platform/observability/metrics.ts';
import { listSnapshots, logFolder, readSnapshot } from './backup-snapshot.ts';
import { type BackupSource, createBackup } from './create-backup.ts';

type BackupContext = Omit<BackupSource, 'signal'> & {
  readonly settings: Config['backup'];
  readonly metrics: Pick<Metrics, 'registerGauge'>;
  readonly log: Logger;
};

const DUE_EVERY_MS = 5000;
const RETRY_MS = 600_000;
const STOP_TIMEOUT_MS = 5000;
const DAY_MS = 86_400_000;

const LAST_SNAPSHOT = {
  name: 'mediary_backup_last_success_timestamp_seconds',
  help: 'When the newest snapshot of the backup was finished; 0 without one. Only with BACKUP_TO.',
  labels: [],
} as const;
const LAST_LOG = {
  name: 'mediary_backup_log_last_success_timestamp_seconds',
  help: 'When this process last archived the changes of the embedded database. Only with BACKUP_TO.',
  labels: [],
} as const;

/** Returns what stops it. A backup in progress is then given up; the next one deletes its files. */
export async function startBackups(ctx: BackupContext): Promise<{ stop(): Promise<void> }> {
  const { folder } = ctx.settings;
  if (folder === undefined) {
    await dropLog(ctx.server);
    return { stop: async () => {} };
  }
  const stopping = new AbortController();
  const last = await readLast(folder);
  registerLast(ctx, last);
  const schedule: Schedule = { folder, last, signal: stopping.signal };
  const loops = [archiveLogs(ctx, schedule), createBackups(ctx, schedule)];
  return {
    stop: async () => {
      stopping.abort();
      await waitAtMost(STOP_TIMEOUT_MS, Promise.all(loops));
    },
  };
}

/**
 * Times of the last successes, `log` of this process. `needsSnapshot`: the archived log does not continue the
 * newest one.
 */
type Last = { snapshot: Date | undefined; log: Date | undefined; needsSnapshot: boolean };
type Schedule = { readonly folder: string; readonly last: Last; readonly signal: AbortSignal };

async function readLast(folder: string): Promise<Last> {
  const [newest] = (await listSnapshots(folder)).slice(-1);
  const snapshot = newest === undefined ? undefined : (await readSnapshot(folder, newest)).finishedAt;
  return {
    snapshot: snapshot === undefined ? undefined : new Date(snapshot),
    log: undefined,
    needsSnapshot: false,
  };
}

function registerLast({ metrics }: BackupContext, last: Last): void {
  const sample = (time = new Date(0)) => [{ labels: {}, value: time.getTime() / 1000 }];
  metrics.registerGauge(LAST_SNAPSHOT, () => sample(last.snapshot));
  metrics.registerGauge(LAST_LOG, () => sample(last.log));
}

async function archiveLogs(ctx: BackupContext, schedule: Schedule): Promise<void> {
  const { signal } = schedule;
  while (!signal.aborted) {
    await archiveOnce(ctx, schedule);
    await pause(ctx.settings.logEverySeconds * 1000, signal);
  }
  // A restore then reaches the end of this process.
  await archiveOnce(ctx, schedule);
}

async function archiveOnce({ server, now, log }: BackupContext, { folder, last }: Schedule): Promise<void> {
  try {
    if (await keepLog(server)) last.needsSnapshot = true;
    await archiveLog(server, (file) => writeArchived(logFolder(folder), file));
    last.log = now();
  } catch (err) {
    log.error({ err }, 'the changes of the database were not archived');
  }
}

async function createBackups(ctx: BackupContext, schedule: Schedule): Promise<void> {
  const { last, signal } = schedule;
  let retryAt = 0;
  while (!signal.aborted) {
    const now = ctx.now().getTime();
    if (now >= retryAt && isDue(ctx, last)) {
      const isDone = await createOne(ctx, schedule);
      retryAt = isDone ? 0 : now + RETRY_MS;
    }
    await pause(DUE_EVERY_MS, signal);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  delay(ms, undefined, { signal, ref: false }).catch(() => signal.aborted || Promise.reject(signal.reason));

/** The first snapshot waits for the log, which has to begin before it. */
const isDue = ({ settings, now }: BackupContext, { snapshot, log, needsSnapshot }: Last): boolean =>
  log !== undefined &&
  (needsSnapshot || !snapshot || now().getTime() >= snapshot.getTime() + settings.everySeconds * 1000);

/** Returns whether it succeeded. */
async function createOne(ctx: BackupContext, { folder, last, signal }: Schedule): Promise<boolean> {
  const { dataDir, server, store, settings, now, log } = ctx;
  const startMs = performance.now();
  const needed = last.needsSnapshot;
  last.needsSnapshot = false;
  try {
    const since = new Date(now().getTime() - settings.keepDays * DAY_MS);
    const source = { dataDir, server, store, now, signal };
    const { snapshot, copied, deletedSnapshots } = await createBackup(source, folder, { since });
    last.snapshot = new Date(snapshot.finishedAt);
    log.info(
      {
        snapshot: snapshot.name,
        seconds: Math.round((performance.now() - startMs) / 100) / 10,
        database_files: snapshot.database.length,
        objects: snapshot.objects.length,
        new_objects: copied,
        deleted_snapshots: deletedSnapshots,
      },
      'the backup was completed',
    );
    return true;
  } catch (err) {
    last.needsSnapshot ||= needed;
    if (!signal.aborted) log.error({ err }, 'the backup failed');
    return false;
  }
}
