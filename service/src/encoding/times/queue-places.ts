// Where each encode stands: its place in the queue, the work until it is ready, and what holds it up.
import type { DelayReason } from '@mediary/contract/enums';
import { type EncodeJobName, isRestJob } from '../encode-jobs.ts';
import type { EncodeWork } from './encode-work.ts';

/** `progress`: percent of `work.total`. */
export type OpenEncode = {
  readonly assetId: string;
  readonly queue: EncodeJobName;
  readonly isRunning: boolean;
  readonly progress: number;
  readonly work: EncodeWork;
};

export type QueuePlace = {
  /** 1 starts next, 0 runs. */
  readonly position: number;
  /** In millions of pixels, with what comes before, as if one slot did all of it. */
  readonly playableWork: number;
  readonly readyWork: number;
};

/** What is before the next encode of a length. */
type WorkAhead = { readonly waiting: number; readonly first: number; readonly total: number };

/** Short and long videos have slots of their own. */
export type QueuePlaces = {
  readonly byAsset: ReadonlyMap<string, QueuePlace>;
  readonly ends: Readonly<Record<'short' | 'long', WorkAhead>>;
};

export const isLongQueue = (queue: EncodeJobName): boolean =>
  queue !== 'encode-asset' && queue !== 'encode-rest';

/** `open`: in the order in which they start; `slots`: how many of a kind run at once. */
export function placeEncodes(open: readonly OpenEncode[], slots: number): QueuePlaces {
  const byAsset = new Map<string, QueuePlace>();
  const placeAll = (isLong: boolean): WorkAhead => {
    const all = open.filter(({ queue }) => isLongQueue(queue) === isLong);
    const rest = placeRest(byAsset, all.filter(isRest), slots);
    return placeFirst(byAsset, { encodes: all.filter((encode) => !isRest(encode)), rest }, slots);
  };
  return { byAsset, ends: { short: placeAll(false), long: placeAll(true) } };
}

/** An encode that was sent after the queue was read is the last one. */
export const placeLast = (ahead: WorkAhead, work: EncodeWork, slots: number): QueuePlace => ({
  position: ahead.waiting + 1,
  playableWork: ahead.first / slots + work.first,
  readyWork: ahead.total / slots + work.total,
});

const isRest = ({ queue }: OpenEncode): boolean => isRestJob(queue);

/** Returns the work of all. */
function placeRest(byAsset: Map<string, QueuePlace>, encodes: readonly OpenEncode[], slots: number): number {
  let ahead = 0;
  const waiting = new Map<EncodeJobName, number>();
  for (const encode of encodes) {
    const { total } = remainingWork(encode);
    const position = encode.isRunning ? 0 : (waiting.get(encode.queue) ?? 0) + 1;
    if (position > 0) waiting.set(encode.queue, position);
    const readyWork = (encode.isRunning ? 0 : ahead / slots) + total;
    byAsset.set(encode.assetId, { position, playableWork: 0, readyWork });
    ahead += total;
  }
  return ahead;
}

type FirstPhases = { readonly encodes: readonly OpenEncode[]; readonly rest: number };

/** The renditions of earlier videos share the machine with the first phases, and are before the own ones. */
function placeFirst(
  byAsset: Map<string, QueuePlace>,
  { encodes, rest }: FirstPhases,
  slots: number,
): WorkAhead {
  let ahead: WorkAhead = { waiting: 0, first: 0, total: rest };
  for (const encode of encodes) {
    const work = remainingWork(encode);
    const running = { ...ahead, first: 0, total: rest };
    const place = placeLast(encode.isRunning ? running : ahead, work, slots);
    byAsset.set(encode.assetId, encode.isRunning ? { ...place, position: 0 } : place);
    ahead = {
      waiting: ahead.waiting + Number(!encode.isRunning),
      first: ahead.first + work.first,
      total: ahead.total + work.total,
    };
  }
  return ahead;
}

function remainingWork({ work, progress }: OpenEncode): EncodeWork {
  const done = (work.total * progress) / 100;
  return { first: Math.max(0, work.first - done), total: Math.max(0, work.total - done) };
}

type DelayFacts = { readonly slots: number; readonly isDiskFull: boolean; readonly runs: number };

/** What holds an open encode up. */
export function findDelayReason(
  { isRunning }: Pick<OpenEncode, 'isRunning'>,
  { slots, isDiskFull, runs }: DelayFacts,
): DelayReason {
  if (isDiskFull) return 'disk_full';
  if (slots === 0) return 'no_worker';
  if (!isRunning) return 'waiting_for_slot';
  return runs > 1 ? 'encode_restarted' : 'encoding_slow';
}
