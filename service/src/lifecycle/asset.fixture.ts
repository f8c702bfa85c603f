// Assets and reports for tests of rules.
import { assetRow } from '../tables.ts';
import type { Asset } from '../assets/asset.ts';
import { decideReport } from './decisions/decide.ts';
import { decideRefusal } from './decisions/decide-commands.ts';
import type { StreamReport } from './decisions/stream-report.ts';

const CREATED = new Date('2026-01-01T10:00:00.000Z');
export const NOW = new Date('2026-01-01T10:05:00.000Z');
export const LATER = new Date('2026-01-01T10:06:00.000Z');

/** All other columns are null at the start. */
const PENDING = {
  ...(Object.fromEntries(Object.keys(assetRow).map((column) => [column, null])) as Record<keyof Asset, null>),
  id: '01900000-0000-7000-8000-000000000001',
  owner_user_id: 'ann',
  kind: 'video',
  filename: 'clip.mp4',
  content_type: 'video',
  mime_type: 'video/mp4',
  visibility: 'private',
  tags: [],
  legal_hold: false,
  provider: 'onprem',
  stream_status: 'pending_upload',
  attempt: 1,
  progress: 0,
  renditions: [],
  warnings: [],
  refused: false,
  playback_version: 1,
  encode_run: 0,
  encoded_run: 0,
  encode_interruptions: 0,
  delayed_attempt: 0,
  version: 1,
  revision: 1,
  settled: false,
  created_at: CREATED,
  updated_at: CREATED,
} satisfies Asset;

/** An onprem video that waits for its upload; one that is beyond it has an original. */
export const createVideo = (overrides: Partial<Asset> = {}): Asset => ({
  ...PENDING,
  original_upload: isUploaded({ ...PENDING, ...overrides }) ? PENDING.id : null,
  ...overrides,
});

const isUploaded = ({ uploaded_at, playback, stream_status }: Asset): boolean =>
  uploaded_at !== null || playback !== null || stream_status !== 'pending_upload';

/** The asset after a report. */
export const afterReport = (asset: Asset, report: StreamReport, now = NOW): Asset => ({
  ...asset,
  ...decideReport(asset, report, now).change?.set,
});

export const afterReports = (asset: Asset, reports: readonly StreamReport[]): Asset =>
  reports.reduce((seen, report) => afterReport(seen, report), asset);

/** A webhook of the onprem encoder. */
export const createReport = (
  event: StreamReport['event'],
  overrides: Partial<StreamReport> = {},
): StreamReport => ({ source: 'webhook', provider: 'onprem', event, ...overrides });

export const withUrls = (hls: string, thumbnail?: string): Partial<StreamReport> => ({
  playback: { kind: 'urls', urls: { hls, ...(thumbnail && { thumbnail }) } },
});

export const withFailure = (code: string): Partial<StreamReport> => ({
  failure: { code, message: code, retryable: true },
});

/** The states of a video in its first attempt. */
const pending = createVideo();
export const VIDEOS = {
  pending,
  processing: afterReport(pending, createReport('started')),
  ready: afterReport(pending, createReport('succeeded', withUrls('https://a.example/1.m3u8'))),
  failed: afterReport(pending, createReport('failed')),
  refused: {
    ...pending,
    ...decideRefusal(pending, { code: 'playlist', message: 'no', retryable: false }).set,
  },
} satisfies Readonly<Record<string, Asset>>;
