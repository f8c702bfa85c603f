// The timelines of an archived log: each restored server begins one, at a position of an earlier one.
import type { BackupTarget } from '../../storage/backup-target.ts';
import { readHistories } from './archived-log.ts';
import type { Snapshot } from './backup-snapshot.ts';

/** For each timeline that a restored server began: where it left the ones before it. */
export type Timelines = ReadonlyMap<number, ReadonlyMap<number, bigint>>;

export async function readTimelines(target: BackupTarget): Promise<Timelines> {
  const histories = await readHistories(target);
  return new Map(histories.map(({ timeline, text }) => [timeline, parseHistory(text)]));
}

/** Number of an earlier timeline, the position where it was left, and a reason. */
const LEFT = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/gm;

const parseHistory = (text: string): ReadonlyMap<number, bigint> =>
  new Map(
    [...text.matchAll(LEFT)].map(([, timeline, position = '']) => [
      Number(timeline),
      parsePosition(position),
    ]),
  );

/** `0/3000158`: the upper and the lower half. */
function parsePosition(text: string): bigint {
  const [upper = '', lower = ''] = text.split('/');
  return (BigInt(`0x${upper}`) << 32n) + BigInt(`0x${lower}`);
}

export const timelineOf = ({ firstLog }: Pick<Snapshot, 'firstLog'>): number =>
  firstLog === undefined ? 1 : Number.parseInt(firstLog.slice(0, 8), 16);

/** Whether a server that is restored from the snapshot can follow the log to this timeline. */
export function leadsTo(
  timelines: Timelines,
  snapshot: Pick<Snapshot, 'firstLog' | 'endsAt'>,
  timeline: number,
): boolean {
  const own = timelineOf(snapshot);
  const left = timelines.get(timeline)?.get(own);
  return own === timeline || (left !== undefined && parsePosition(snapshot.endsAt) <= left);
}
