// The events that a report causes: every change that callers see has one, and progress is throttled (contract B8).
import { isDeepStrictEqual } from 'node:util';
import type { Asset } from '../assets/asset.ts';
import { type EventType, type NewEvent, newEvent } from '../assets/asset-event.ts';
import { shownColumns } from '../tables.ts';
import type { AssetPatch } from './change.ts';
import type { StreamReport } from './stream-report.ts';
import { type StreamState, toCheckData } from './stream-state.ts';
import type { StreamStatus } from './transitions.ts';

const STATUS_EVENTS: Partial<Record<StreamStatus, EventType>> = {
  processing: 'asset.processing',
  ready: 'asset.ready',
  failed: 'asset.failed',
};

type ReportedChange = { readonly next: StreamState; readonly set: AssetPatch; readonly now: Date };

export function eventsOf(
  before: Asset,
  { next, set, now }: ReportedChange,
  { source, providerCode }: StreamReport,
): NewEvent[] {
  const moved = before.stream_status !== next.stream_status || before.attempt !== next.attempt;
  const status = moved ? STATUS_EVENTS[next.stream_status] : undefined;
  const code = next.failure?.code;
  const data = {
    attempt: next.attempt,
    source,
    ...(code !== undefined && { code }),
    ...(providerCode !== undefined && { provider_code: providerCode }),
    ...toCheckData(next),
  };
  const playable = !before.playable_at && next.playable_at;
  const events = [
    ...(playable ? [newEvent('asset.playable', data)] : []),
    ...(status ? [newEvent(status, data)] : []),
  ];
  return events.length > 0 ? events : detailEvents(before, { next, set, now }, source);
}

/** Of a report that moves nothing but changes what callers see. */
function detailEvents(
  before: Asset,
  { next, set, now }: ReportedChange,
  source: StreamReport['source'],
): NewEvent[] {
  const fields = Object.keys(set).filter((name) => name in shownColumns);
  const { attempt, progress } = next;
  if (fields.some((name) => name !== 'progress' && name !== 'renditions'))
    return [newEvent('asset.updated', { attempt, source, fields })];
  return fields.length > 0 && isProgressDue(before, next, now)
    ? [newEvent('asset.progress', { attempt, source, progress })]
    : [];
}

/** Percent between two events of reports that come faster than one a second. */
const PROGRESS_STEP = 5;
const PROGRESS_PAUSE_MS = 1000;

/** A rendition that changes its state always counts; else a second has passed since the last change, or a step of progress is reached. */
const isProgressDue = (before: Asset, next: StreamState, now: Date): boolean =>
  !isDeepStrictEqual(statesOf(before), statesOf(next)) ||
  Math.floor(before.progress / PROGRESS_STEP) !== Math.floor(next.progress / PROGRESS_STEP) ||
  now.getTime() - before.updated_at.getTime() >= PROGRESS_PAUSE_MS;

const statesOf = ({ renditions }: Pick<Asset, 'renditions'>) =>
  renditions.map(({ height, state }) => ({ height, state }));
