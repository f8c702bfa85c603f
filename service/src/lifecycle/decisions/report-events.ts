// The events of a report: every visible change has an event, and progress is throttled (contract B8).
import { isDeepStrictEqual } from 'node:util';
import type { EventType, StreamStatus } from '@mediary/contract/enums';
import type { Asset } from '../../assets/asset.ts';
import { type NewEvent, newEvent } from '../../assets/asset-event.ts';
import { shownColumns } from '../../tables.ts';
import type { AssetPatch } from './change.ts';
import type { StreamReport } from './stream-report.ts';
import { type StreamState, toCheckData } from './stream-state.ts';

const STATUS_EVENTS: Partial<Record<StreamStatus, EventType>> = {
  processing: 'asset.processing',
  ready: 'asset.ready',
  failed: 'asset.failed',
};

type ReportedChange = { readonly next: StreamState; readonly set: AssetPatch; readonly now: Date };

export function eventsOf(
  before: Asset,
  { next, set, now }: ReportedChange,
  { source, providerCode, media }: StreamReport,
): NewEvent[] {
  const isNewStatus = before.stream_status !== next.stream_status || before.attempt !== next.attempt;
  const status = isNewStatus ? STATUS_EVENTS[next.stream_status] : undefined;
  const code = next.failure?.code;
  const data = {
    attempt: next.attempt,
    source,
    ...(code !== undefined && { code }),
    ...(providerCode !== undefined && { provider_code: providerCode }),
  };
  const statusData = { ...data, ...toCheckData(next), ...(media?.audio && { audio: media.audio }) };
  const isPlayable = !before.playable_at && next.playable_at;
  const events = [
    ...(isPlayable ? [newEvent('asset.playable', data)] : []),
    ...(status ? [newEvent(status, statusData)] : []),
  ];
  return events.length > 0 ? events : detailEvents(before, { next, set, now }, source);
}

/** The event of a report that changes visible columns but not the status. */
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

/** Progress events are at least one second or five percent apart, so that subscribers are not flooded. */
const PROGRESS_INTERVAL_MS = 1000;
const PROGRESS_STEP = 5;

/** A rendition that changes its state is always reported. */
const isProgressDue = (before: Asset, next: StreamState, now: Date): boolean =>
  !isDeepStrictEqual(statesOf(before), statesOf(next)) ||
  Math.floor(before.progress / PROGRESS_STEP) !== Math.floor(next.progress / PROGRESS_STEP) ||
  now.getTime() - before.updated_at.getTime() >= PROGRESS_INTERVAL_MS;

const statesOf = ({ renditions }: Pick<Asset, 'renditions'>) =>
  renditions.map(({ height, state }) => ({ height, state }));
