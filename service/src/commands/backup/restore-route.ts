// Chooses the snapshot from which a backup is restored, and the timeline of the log that is followed.
import type { BackupTarget } from '../../storage/backup-target.ts';
import { hasArchivedLog } from './archived-log.ts';
import { getSnapshot, listSnapshots, type Snapshot } from './backup-snapshot.ts';
import { leadsTo, readTimelines, type Timelines, timelineOf } from './timelines.ts';

/** Undefined: the newest snapshot. `latest`: the end of the log on its newest timeline. */
export type RestorePoint = { readonly snapshot: string } | { readonly time: Date | 'latest' } | undefined;

/** `later`: snapshots whose objects younger rows need. */
export type RestoreRoute = {
  readonly snapshot: Snapshot;
  readonly timeline: number;
  readonly later: readonly Snapshot[];
};

/** At least one; the next one is for a moment that the log of the one before does not reach. */
export async function listRoutes(target: BackupTarget, point: RestorePoint): Promise<RestoreRoute[]> {
  if (!point || 'snapshot' in point) {
    const snapshot = await getSnapshot(target, point?.snapshot);
    return [{ snapshot, timeline: timelineOf(snapshot), later: [] }];
  }
  if (!(await hasArchivedLog(target)))
    throw new Error(`${target.location} has no archived log. A service archives it where BACKUP_TO is set`);
  const log = { snapshots: await listSnapshots(target), timelines: await readTimelines(target) };
  const { time } = point;
  return time === 'latest' ? [findLatest(target, log)] : listRoutesTo(log, time);
}

type BackedUpLog = { readonly snapshots: readonly Snapshot[]; readonly timelines: Timelines };

function findLatest({ location }: BackupTarget, log: BackedUpLog): RestoreRoute {
  if (log.snapshots.length === 0) throw new Error(`${location} has no complete snapshot`);
  const newest = Math.max(...log.snapshots.map(timelineOf), ...log.timelines.keys());
  const route = findRoute(log, log.snapshots, newest);
  if (route) return route;
  throw new Error(
    `${location} has no snapshot that leads to its newest log, that of timeline ${newest}. Restore a ` +
      'snapshot (--snapshot), or a moment (--to-time)',
  );
}

/** A moment is on the first timeline whose log reaches it. */
function listRoutesTo(log: BackedUpLog, time: Date): RestoreRoute[] {
  const finished = log.snapshots.filter(({ finishedAt }) => new Date(finishedAt) <= time);
  const newest = finished.at(-1);
  if (!newest) {
    const first = log.snapshots[0]?.finishedAt ?? 'never';
    throw new Error(`The backup begins after ${time.toISOString()}: its first snapshot is of ${first}`);
  }
  const own = timelineOf(newest);
  const later = [...log.timelines.keys()].filter((timeline) => timeline > own).sort((a, b) => a - b);
  return [own, ...later].flatMap((timeline) => findRoute(log, finished, timeline) ?? []);
}

/** From the newest of these snapshots that leads to the timeline. */
function findRoute(
  { snapshots, timelines }: BackedUpLog,
  from: readonly Snapshot[],
  timeline: number,
): RestoreRoute | undefined {
  const leads = (snapshot: Snapshot) => leadsTo(timelines, snapshot, timeline);
  const snapshot = from.findLast(leads);
  if (!snapshot) return undefined;
  const later = snapshots.filter(({ name }) => name > snapshot.name);
  return { snapshot, timeline, later: [...later.slice(0, 1), ...later.filter(leads).slice(0, 1)] };
}
