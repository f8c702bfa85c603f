// When a video will be ready, as people read it.
import type { Asset } from './api/assets.ts';

type ProcessedAsset = Pick<
  Asset,
  'expected_playable_at' | 'expected_ready_at' | 'expected_ready_range' | 'queue_position'
>;

/** `playable in about 20 s, ready in about 3 min (90 s to 6 min), number 2 in the queue`; or null. */
export function formatExpectedTimes(asset: ProcessedAsset, now = new Date()): string | null {
  const { expected_playable_at: playable, expected_ready_at: ready, queue_position: position } = asset;
  const texts = [
    playable !== null && playable !== ready && `playable in about ${formatWait(playable, now)}`,
    ready !== null && `ready in about ${formatWait(ready, now)}${formatRange(asset, now)}`,
    position !== null && position > 0 && `number ${position} in the queue`,
  ];
  return texts.filter(Boolean).join(', ') || null;
}

function formatRange({ expected_ready_range: range }: ProcessedAsset, now: Date): string {
  if (range === null) return '';
  const [from, to] = [formatWait(range.earliest_at, now), formatWait(range.latest_at, now)];
  return from === to ? '' : ` (${from} to ${to})`;
}

/** Each unit is used up to this many seconds. */
const UNITS = [
  ['s', 1, 100],
  ['min', 60, 100 * 60],
  ['h', 3600, Number.POSITIVE_INFINITY],
] as const;

function formatWait(at: string, now: Date): string {
  const seconds = Math.max(1, Math.round((Date.parse(at) - now.getTime()) / 1000));
  const [unit, size] = UNITS.find(([, , limit]) => seconds < limit) ?? UNITS[2];
  return `${Math.round(seconds / size)} ${unit}`;
}
