// Backs up the embedded database while the service runs: a snapshot each BACKUP_EVERY_H, its log more often.
import { setTimeout as delay } from 'node:timers/promises';
import { archiveLog, dropLog, keepLog } from '@mediary/embedded-postgres/log-archive';
import type { Config } from '../../config.ts';
import { waitAtMost } from '../../platform/concurrency/in-flight.ts';
import type { Logger } from '../../platform/observability/logger.ts';
import type { Metrics } from '../../platform/observability/metrics.ts';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { isLogContinuous, writeArchived } from './archived-log.ts';
import { listSnapshots } from './backup-snapshot.ts';
import { type BackupSource, createBackup } from './create-backup.ts';

type ScheduleContext = Omit<BackupSource, 'signal'> & {
  /** Undefined where BACKUP_TO is not set. */
  readonly target: BackupTarget | undefined;
  readonly settings: Pick<Config['backup'], 'everySeconds' | 'keepDays' | 'logEverySeconds'>;
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

/**
 * Returns what stops it. A backup in progress is then given up; the next one goes on with its files. Does not
 * wait for the target, which may be slow.
 */
export async function startBackups(ctx: ScheduleContext): Promise<{ stop(): Promise<void> }> {
  const { target } = ctx;
  if (!target) {
    await dropLog(ctx.server);
    return { stop: async () => {} };
  }
  const stopping = new AbortController();
  const last: Last = {
    isKnown: false,
    isLogChecked: false,
    snapshot: undefined,
    firstLog: undefined,
    log: undefined,
    needsSnapshot: false,
  };
  registerLast(ctx, last);
  const schedule: Schedule = { target, last, signal: stopping.signal };
  const loops = [archiveLogs(ctx, schedule), createBackups(ctx, schedule)];
  return {
    stop: async () => {
      stopping.abort();
      await waitAtMost(STOP_TIMEOUT_MS, Promise.all(loops));
      target.close();
    },
  };
}

/**
 * Times of the last successes, `log` of this process. `isKnown`: the target has told its newest snapshot, and
 * where the log of that begins. `needsSnapshot`: the archived log does not continue the newest one.
 */
type Last = {
  isKnown: boolean;
  isLogChecked: boolean;
  snapshot: Date | undefined;
  firstLog: string | undefined;
  log: Date | undefined;
  needsSnapshot: boolean;
};
type Schedule = { readonly target: BackupTarget; readonly last: Last; readonly signal: AbortSignal };

async function readLast({ target, last }: Schedule): Promise<void> {
  if (last.isKnown) return;
  const newest = (await listSnapshots(target)).at(-1);
  if (newest) last.snapshot = new Date(newest.finishedAt);
  last.firstLog = newest?.firstLog;
  last.isKnown = true;
}

/** An earlier process may have ended before the snapshot that a gap of the log required. */
async function checkLog({ target, last }: Schedule): Promise<void> {
  // The first files of this process show the gap.
  if (last.isLogChecked || last.log === undefined) return;
  if (last.firstLog !== undefined && !(await isLogContinuous(target, last.firstLog)))
    last.needsSnapshot = true;
  last.isLogChecked = true;
}

function registerLast({ metrics }: ScheduleContext, last: Last): void {
  const sample = (time = new Date(0)) => [{ labels: {}, value: time.getTime() / 1000 }];
  metrics.registerGauge(LAST_SNAPSHOT, () => sample(last.snapshot));
  metrics.registerGauge(LAST_LOG, () => sample(last.log));
}

async function archiveLogs(ctx: ScheduleContext, schedule: Schedule): Promise<void> {
  const { signal } = schedule;
  while (!signal.aborted) {
    await archiveOnce(ctx, schedule);
    await pause(ctx.settings.logEverySeconds * 1000, signal);
  }
  // A restore then reaches the end of this process.
  await archiveOnce(ctx, schedule);
}

async function archiveOnce({ server, now, log }: ScheduleContext, { target, last }: Schedule): Promise<void> {
  try {
    if (await keepLog(server)) last.needsSnapshot = true;
    await archiveLog(server, (file) => writeArchived(target, file));
    last.log = now();
  } catch (err) {
    log.error({ err }, 'the changes of the database were not archived');
  }
}

async function createBackups(ctx: ScheduleContext, schedule: Schedule): Promise<void> {
  const { signal } = schedule;
  let retryAt = 0;
  while (!signal.aborted) {
    const now = ctx.now().getTime();
    if (now >= retryAt && !(await createIfDue(ctx, schedule))) retryAt = now + RETRY_MS;
    await pause(DUE_EVERY_MS, signal);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  delay(ms, undefined, { signal, ref: false }).catch(() => signal.aborted || Promise.reject(signal.reason));

/** The first snapshot waits for the log, which has to begin before it. */
const isDue = ({ settings, now }: ScheduleContext, { snapshot, log, needsSnapshot }: Last): boolean =>
  log !== undefined &&
  (needsSnapshot || !snapshot || now().getTime() >= snapshot.getTime() + settings.everySeconds * 1000);

/** Returns false when it failed. */
async function createIfDue(ctx: ScheduleContext, schedule: Schedule): Promise<boolean> {
  const { last, signal } = schedule;
  let needed = false;
  try {
    await readLast(schedule);
    await checkLog(schedule);
    if (!isDue(ctx, last)) return true;
    needed = last.needsSnapshot;
    last.needsSnapshot = false;
    await createOne(ctx, schedule);
    return true;
  } catch (err) {
    last.needsSnapshot ||= needed;
    if (!signal.aborted) ctx.log.error({ err }, 'the backup failed');
    return false;
  }
}

async function createOne(ctx: ScheduleContext, { target, last, signal }: Schedule): Promise<void> {
  const { dataDir, server, store, settings, minFreeBytes, now, log } = ctx;
  const startMs = performance.now();
  const since = new Date(now().getTime() - settings.keepDays * DAY_MS);
  const source = { dataDir, server, store, minFreeBytes, now, signal };
  const created = await createBackup(source, target, { since });
  const { snapshot, copied, deletedSnapshots, retentionError: err } = created;
  if (err !== undefined) log.error({ err }, 'old snapshots of the backup were not deleted');
  last.snapshot = new Date(snapshot.finishedAt);
  log.info(
    {
      snapshot: snapshot.name,
      seconds: Math.round((performance.now() - startMs) / 100) / 10,
      database_files: snapshot.database.count,
      objects: snapshot.objects.count,
      new_objects: copied,
      deleted_snapshots: deletedSnapshots,
    },
    'the backup was completed',
  );
}
